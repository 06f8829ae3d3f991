#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Installs what a make target needs and this machine lacks, or prints the one line to type.
#
#   Scripts/deps.sh build     Swift, pkg-config, headers of libcurl, OpenSSL and xxHash
#   Scripts/deps.sh test      the same, and nginx, Apache and Python if they can be had (their tests skip without them)
#   Scripts/deps.sh bench     the same as build, and nginx, curl, openssl, python3; other downloaders if they can be had
#   Scripts/deps.sh lint      Swift and python3
#   Scripts/deps.sh package   dpkg-dev
#
# Every target of the Makefile comes through here, so the way of "nothing is missing" must stay fast: it only asks
# pkg-config and the PATH.

set -euo pipefail

goal=${1:?usage: Scripts/deps.sh build|test|bench|lint|package}
# Debian keeps servers in /usr/sbin, which is not on an ordinary user's PATH.
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin

curl_floor=7.88
policy=/usr/sbin/policy-rc.d
policy_mark='# haul: no service starts while test servers are installed'

say() { printf 'deps: %s\n' "$*" >&2; }
have() { command -v "$1" >/dev/null 2>&1; }

# --- What is missing -------------------------------------------------------------------------------------------------

# `needed` stops the build; `wished` only lets tests skip. Both hold names of `what`, not of packages.
needed=()
wished=()

has_module() {
  case $(uname -s) in
    # Homebrew keeps these out of the default search path; SwiftPM finds them by the formula's name, and so do we.
    Darwin) [ -d "$(brew_prefix)/opt/$(brew_name "$1")/include" ] ;;
    *) have pkg-config && pkg-config --exists "$(module_query "$1")" ;;
  esac
}

module_query() {
  case $1 in
    libcurl) echo "libcurl >= $curl_floor" ;;
    openssl) echo libcrypto ;;
    xxhash) echo libxxhash ;;
  esac
}

look() {
  needed=()
  wished=()
  case $goal in
    build | test | bench)
      if [ "$(uname -s)" != Darwin ]; then have pkg-config || needed+=(pkg-config); fi
      for module in libcurl openssl xxhash; do has_module "$module" || needed+=("$module"); done
      ;;
  esac
  case $goal in
    test)
      have nginx || wished+=(nginx)
      have apache2 || have httpd || wished+=(apache)
      have python3 || wished+=(python3)
      ;;
    bench)
      have nginx || needed+=(nginx)
      for tool in curl openssl-tool python3; do have "${tool%-tool}" || needed+=("$tool"); done
      for tool in axel wget2 lftp rclone; do have "$tool" || wished+=("$tool"); done
      have aria2c || wished+=(aria2)
      [ "$(uname -s)" = Darwin ] || { have ip || wished+=(iproute2); have sysctl || wished+=(procps); }
      ;;
    lint) have python3 || needed+=(python3) ;;
    package) have dpkg-shlibdeps || needed+=(dpkg-dev) ;;
  esac
}

# --- What it is called where -----------------------------------------------------------------------------------------

apt_name() {
  case $1 in
    libcurl) echo libcurl4-openssl-dev ;;
    openssl) echo libssl-dev ;;
    xxhash) echo libxxhash-dev ;;
    # The binary and its modules without the service: nothing of it runs unless a test starts it.
    apache) echo apache2-bin ;;
    openssl-tool) echo openssl ;;
    *) echo "$1" ;;
  esac
}

dnf_name() {
  case $1 in
    libcurl) echo libcurl-devel ;;
    openssl) echo openssl-devel ;;
    xxhash) echo xxhash-devel ;;
    pkg-config) echo pkgconf-pkg-config ;;
    apache) echo httpd ;;
    openssl-tool) echo openssl ;;
    *) echo "$1" ;;
  esac
}

brew_name() {
  case $1 in
    libcurl) echo curl ;;
    openssl | openssl-tool) echo openssl@3 ;;
    apache) echo httpd ;;
    python3) echo python@3 ;;
    dpkg-dev) echo dpkg ;;
    *) echo "$1" ;;
  esac
}

# `brew --prefix` would take longer than all other questions together, and its answer is one of these.
brew_prefix() {
  if [ -n "${HOMEBREW_PREFIX:-}" ]; then
    echo "$HOMEBREW_PREFIX"
  elif [ -d /opt/homebrew ]; then
    echo /opt/homebrew
  else
    echo /usr/local
  fi
}

names() {
  local translate=$1 item
  shift
  for item in "$@"; do "$translate" "$item"; done | sort -u | tr '\n' ' ' | sed 's/ $//'
}

# --- Installing ------------------------------------------------------------------------------------------------------

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi
}

may_be_root() {
  [ "$(id -u)" = 0 ] || { have sudo && sudo -n true 2>/dev/null; }
}

# Debian starts a server as soon as it is installed, unless policy-rc.d says no. An existing policy is somebody else's
# and stays as it is; ours is taken away again, also after an earlier run that was killed.
forbid_services() {
  remove_our_policy
  [ -e "$policy" ] && return 0
  trap remove_our_policy EXIT
  # shellcheck disable=SC2016  # $1 and $2 belong to the inner shell
  as_root sh -c 'set -C; umask 022; printf "#!/bin/sh\n%s\nexit 101\n" "$2" >"$1" && chmod 755 "$1"' \
    sh "$policy" "$policy_mark" || say "could not write $policy: a server may be started by its package"
}

remove_our_policy() {
  if [ -f "$policy" ] && grep -qF "$policy_mark" "$policy"; then as_root rm -f "$policy"; fi
}

apt_install() {
  local quiet=(env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300)
  say "installing $*"
  # Old lists may still do (an offline mirror, say), so a failed update alone does not stop us.
  as_root "${quiet[@]}" update >&2 || say "apt-get update failed; trying with the lists at hand"
  case " $* " in *" nginx "*) forbid_services ;; esac
  as_root "${quiet[@]}" install -y --no-install-recommends "$@" >&2
  # Nor at the next boot: who came for a test did not ask for a web server on port 80.
  case " $* " in
    *" nginx "*) if have systemctl; then as_root systemctl --quiet disable nginx.service >&2 || true; fi ;;
  esac
}

# Installs the named things if this machine lets us; else leaves the line to type in `advice`.
advice=
install_all() {
  local packages
  if [ "$(uname -s)" = Darwin ]; then
    packages=$(names brew_name "$@")
    advice="brew install $packages"
    have brew || { advice="install Homebrew (https://brew.sh), then: $advice"; return 1; }
    say "installing $packages"
    # shellcheck disable=SC2086  # one word a package
    brew install --quiet $packages >&2
  elif have apt-get; then
    packages=$(names apt_name "$@")
    advice="sudo apt-get update && sudo apt-get install -y --no-install-recommends $packages"
    may_be_root || return 1
    # shellcheck disable=SC2086
    apt_install $packages
  elif have dnf; then
    advice="sudo dnf install -y $(names dnf_name "$@")"
    return 1
  else
    advice="install, with this system's package manager: $(names dnf_name "$@")"
    return 1
  fi
}

# --- The step itself -------------------------------------------------------------------------------------------------

case $goal in
  build | test | bench | lint)
    have swift || { say "Swift 6.2 or newer is needed: https://www.swift.org/install"; exit 1; }
    ;;
  package) ;;
  *) say "unknown goal: $goal"; exit 64 ;;
esac

look

if [ ${#needed[@]} -gt 0 ]; then
  install_all "${needed[@]}" || true
  look
  if [ ${#needed[@]} -gt 0 ]; then
    say "missing: ${needed[*]}. Type this line, then run make again:"
    printf '  %s\n' "$advice" >&2
    case " ${needed[*]} " in *" libcurl "*) say "(libcurl must be $curl_floor or newer)" ;; esac
    exit 1
  fi
fi

if [ ${#wished[@]} -gt 0 ]; then
  install_all "${wished[@]}" || true
  look
  if [ ${#wished[@]} -gt 0 ]; then
    say "not here: ${wished[*]}. Tests against them will be skipped; to have them, type:"
    printf '  %s\n' "$advice" >&2
  fi
fi

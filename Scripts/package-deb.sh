#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Makes dist/haul_VERSION_ARCH.deb from dist/haul. The dependencies are read off the binary, so they name the libraries
# of the Debian release this runs on. The same commit gives the same package, byte for byte, on the same machine.

set -euo pipefail
cd "$(dirname "$0")/.."

version=$(sed -n 's/.*static let current = "\([^"]*\)".*/\1/p' Sources/Haul/HaulVersion.swift)
[ -n "$version" ] || { echo "package: no version in Sources/Haul/HaulVersion.swift" >&2; exit 1; }
architecture=$(dpkg --print-architecture)
maintainer="${DEBFULLNAME:-The Haul maintainers}${DEBEMAIL:+ <$DEBEMAIL>}"
# Every file of the package carries the date of the commit.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}
export SOURCE_DATE_EPOCH
umask 022

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root
# mktemp's folder is private; the package's root must not be.
install -d -m 755 "$root"

make --no-print-directory install DESTDIR="$root" PREFIX=/usr
if [ -f "$root/usr/share/man/man1/haul.1" ]; then gzip -9n "$root/usr/share/man/man1/haul.1"; fi

documents=$root/usr/share/doc/haul
install -d "$documents"
install -m 644 README.md SECURITY.md CONTRIBUTING.md LICENSE "$documents/"
# What README refers to; benchmarks and formats belong to the reader as much as to the builder.
install -d "$documents/Docs"
install -m 644 Docs/*.md "$documents/Docs/"
gzip -9nc CHANGELOG.md >"$documents/changelog.gz"
cat >"$documents/copyright" <<'COPYRIGHT'
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: Haul

Files: *
Copyright: The Haul authors
License: Apache-2.0
 On Debian systems the full text is in /usr/share/common-licenses/Apache-2.0.
COPYRIGHT

# dpkg-shlibdeps reads the name of the package from a debian/control of its own form.
mkdir "$work/debian"
printf 'Source: haul\n\nPackage: haul\nArchitecture: any\n' >"$work/debian/control"
# The symbols alone would allow any libcurl of the last decades; what they do is right from 7.88 on.
depends=$(cd "$work" && dpkg-shlibdeps -O --warnings=0 root/usr/bin/haul |
  sed -n -e 's/\(libcurl4[a-z0-9]*\) (>= [^)]*)/\1 (>= 7.88)/' -e 's/^shlibs:Depends=//p')
[ -n "$depends" ] || { echo "package: dpkg-shlibdeps found no dependencies" >&2; exit 1; }

mkdir "$root/DEBIAN"
cat >"$root/DEBIAN/control" <<CONTROL
Package: haul
Version: $version
Architecture: $architecture
Maintainer: $maintainer
Installed-Size: $(du -sk --exclude=DEBIAN "$root" | cut -f1)
Depends: $depends
Recommends: ca-certificates
Section: net
Priority: optional
Description: parallel, resuming, verifying downloader of big files
 Haul fetches one big file over as many connections as the path rewards, goes
 on where it stopped, after a crash or a power loss too, and gives the file its
 final name only when it is complete and its digest matches.
CONTROL
(cd "$root" && find usr -type f -print0 | sort -z | xargs -0 md5sum >DEBIAN/md5sums)

mkdir -p dist
package=dist/haul_${version}_${architecture}.deb
dpkg-deb --root-owner-group --build "$root" "$package" >/dev/null
echo "$package (depends on: $depends)"

// SPDX-License-Identifier: Apache-2.0
//
// libcurl's setters are variadic in C, so Swift cannot see them: one typed inline function per argument type.

#ifndef HAUL_CCURL_SHIM_H
#define HAUL_CCURL_SHIM_H

#include <curl/curl.h>
#include <stdint.h>

static inline CURLcode haul_easy_set_long(CURL *handle, CURLoption option, long value) {
  return curl_easy_setopt(handle, option, value);
}
static inline CURLcode haul_easy_set_string(CURL *handle, CURLoption option, const char *value) {
  return curl_easy_setopt(handle, option, value);
}
static inline CURLcode haul_easy_set_pointer(CURL *handle, CURLoption option, void *value) {
  return curl_easy_setopt(handle, option, value);
}
static inline CURLcode haul_easy_set_list(CURL *handle, CURLoption option, struct curl_slist *value) {
  return curl_easy_setopt(handle, option, value);
}
static inline CURLcode haul_easy_set_data(CURL *handle, CURLoption option,
                                          size_t (*value)(char *, size_t, size_t, void *)) {
  return curl_easy_setopt(handle, option, value);
}

static inline CURLcode haul_easy_set_tls_context_function(CURL *handle,
                                                          CURLcode (*value)(CURL *, void *, void *)) {
  return curl_easy_setopt(handle, CURLOPT_SSL_CTX_FUNCTION, value);
}

static inline CURLcode haul_easy_get_long(CURL *handle, CURLINFO info, long *value) {
  return curl_easy_getinfo(handle, info, value);
}
static inline CURLcode haul_easy_get_int64(CURL *handle, CURLINFO info, int64_t *value) {
  curl_off_t offset = 0;
  CURLcode code = curl_easy_getinfo(handle, info, &offset);
  *value = offset;
  return code;
}
static inline CURLcode haul_easy_get_string(CURL *handle, CURLINFO info, const char **value) {
  char *text = 0;
  CURLcode code = curl_easy_getinfo(handle, info, &text);
  *value = text;
  return code;
}
static inline CURLcode haul_easy_get_pointer(CURL *handle, CURLINFO info, void **value) {
  return curl_easy_getinfo(handle, info, value);
}

/// OpenSSL's session of the connection that a running transfer uses, or NULL.
static inline void *haul_easy_tls_session(CURL *handle) {
  struct curl_tlssessioninfo *session = 0;
  if (curl_easy_getinfo(handle, CURLINFO_TLS_SSL_PTR, &session) != CURLE_OK || !session) return 0;
  return session->backend == CURLSSLBACKEND_OPENSSL ? session->internals : 0;
}

static inline CURLMcode haul_multi_set_long(CURLM *multi, CURLMoption option, long value) {
  return curl_multi_setopt(multi, option, value);
}
static inline CURLMcode haul_multi_set_pointer(CURLM *multi, CURLMoption option, void *value) {
  return curl_multi_setopt(multi, option, value);
}
static inline CURLMcode haul_multi_set_socket_function(
    CURLM *multi, int (*value)(CURL *, curl_socket_t, int, void *, void *)) {
  return curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, value);
}
static inline CURLMcode haul_multi_set_timer_function(CURLM *multi, int (*value)(CURLM *, long, void *)) {
  return curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, value);
}

/// What `curl_version_info` wants to be told; a macro in libcurl's header.
static const CURLversion haul_version_now = CURLVERSION_NOW;

/// The result inside the union of a finished transfer's message.
static inline CURLcode haul_message_result(const CURLMsg *message) { return message->data.result; }

#endif

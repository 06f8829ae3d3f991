// SPDX-License-Identifier: Apache-2.0
//
// Descriptors that a child process must not inherit, made so in one step where the system can: a test that
// starts the real command from another thread would otherwise hand it open connections.

#ifndef HAUL_CPLATFORM_SOCKETS_H
#define HAUL_CPLATFORM_SOCKETS_H

/// Accepts one connection, close-on-exec. Returns 0 or a positive errno value.
int haul_accept(int listener, int *connection);

/// A close-on-exec pipe: `ends[0]` reads, `ends[1]` writes. Returns 0 or a positive errno value.
int haul_pipe(int ends[2]);

/// A close-on-exec TCP socket over IPv4. Returns 0 or a positive errno value.
int haul_tcp_socket(int *socket_out);

/// Bytes handed to the kernel that the peer has not acknowledged, or -1 where the system does not tell.
int haul_unacknowledged(int socket_in);

#endif

// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL
package import HaulCore

/// One running digest of libcrypto. Belongs to one thread at a time.
package final class Digest {
  private let context: OpaquePointer
  fileprivate let algorithm: DigestAlgorithm

  package init(_ algorithm: DigestAlgorithm) throws(DigestError) {
    guard let context = EVP_MD_CTX_new() else { throw .unsupported(algorithm) }
    guard EVP_DigestInit_ex(context, Self.method(of: algorithm), nil) == 1 else {
      EVP_MD_CTX_free(context)
      throw .unsupported(algorithm)
    }
    self.context = context
    self.algorithm = algorithm
  }

  /// A second digest that goes on from where `other` stands.
  package init(copying other: Digest) throws(DigestError) {
    guard let context = EVP_MD_CTX_new() else { throw .unsupported(other.algorithm) }
    guard EVP_MD_CTX_copy_ex(context, other.context) == 1 else {
      EVP_MD_CTX_free(context)
      throw .unsupported(other.algorithm)
    }
    self.context = context
    self.algorithm = other.algorithm
  }

  deinit {
    EVP_MD_CTX_free(context)
  }

  package func update(_ bytes: UnsafeRawBufferPointer) {
    // Fails only after `finish()`; to go on would end in the digest of something else.
    let code = EVP_DigestUpdate(context, bytes.baseAddress, bytes.count)
    precondition(code == 1, "a digest took no more bytes")
  }

  /// The digest of all bytes so far. Called once; afterwards the value takes no more bytes.
  package func finish() -> [UInt8] {
    var count: UInt32 = 0
    var bytes = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
    let code = EVP_DigestFinal_ex(context, &bytes, &count)
    precondition(code == 1 && Int(count) == algorithm.byteCount, "a digest was finished twice")
    return Array(bytes.prefix(Int(count)))
  }

  /// The SHA-256 of bytes in memory.
  package static func sha256(of bytes: some Sequence<UInt8>) -> [UInt8] {
    let input = Array(bytes)
    var output = [UInt8](repeating: 0, count: DigestAlgorithm.sha256.byteCount)
    let code = EVP_Digest(input, input.count, &output, nil, EVP_sha256(), nil)
    precondition(code == 1, "libcrypto has no SHA-256")
    return output
  }

  /// Whether libcrypto offers it here: its FIPS mode knows no MD5.
  package static func isOffered(_ algorithm: DigestAlgorithm) -> Bool { (try? Digest(algorithm)) != nil }

  /// One running digest for each of `algorithms`.
  package static func of(_ algorithms: Set<DigestAlgorithm>) throws(DigestError) -> [Digest] {
    var digests: [Digest] = []
    for algorithm in DigestAlgorithm.allCases where algorithms.contains(algorithm) {
      digests.append(try Digest(algorithm))
    }
    return digests
  }

  private static func method(of algorithm: DigestAlgorithm) -> OpaquePointer? {
    switch algorithm {
    case .sha256: EVP_sha256()
    case .sha512: EVP_sha512()
    case .sha1: EVP_sha1()
    case .md5: EVP_md5()
    }
  }
}

extension DigestSet {
  /// Finishes running digests, once.
  package init(finishing digests: [Digest]) {
    self.init()
    for digest in digests { self[digest.algorithm] = digest.finish() }
  }
}

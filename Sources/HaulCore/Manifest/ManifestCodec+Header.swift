// SPDX-License-Identifier: Apache-2.0

extension ManifestCodec {
  /// Byte offsets inside a header page.
  private enum Field {
    static let version = 8
    static let id = 16
    static let created = 32
    static let length = 40
    static let chunkSize = 48
    static let chunkCount = 56
    static let device = 64
    static let inode = 72
    static let validatorKind = 80
    static let digestAlgorithm = 81
    static let digestLength = 82
    static let sourceLength = 84
    static let validatorHash = 88
    static let digest = 120
    static let place = 184
    static let source = 192
  }

  /// The page of 4096 bytes; both copies are the same.
  package func encode(_ header: ManifestHeader) -> [UInt8] {
    var page = [UInt8](repeating: 0, count: ManifestLayout.pageSize)
    page.put(Self.headerMagic, at: 0)
    page.put(Self.version, at: Field.version)
    page.put(header.id.high, at: Field.id)
    page.put(header.id.low, at: Field.id + 8)
    page.put(Int64(header.created), at: Field.created)
    page.put(UInt64(header.grid.length), at: Field.length)
    page.put(UInt64(header.grid.chunkSize), at: Field.chunkSize)
    page.put(UInt64(header.grid.count), at: Field.chunkCount)
    page.put(header.device, at: Field.device)
    page.put(header.inode, at: Field.inode)
    page.put(header.validatorKind.rawValue, at: Field.validatorKind)
    page.put(header.validatorHash, at: Field.validatorHash)
    if let digest = header.expectedDigest {
      page.put(digest.algorithm, at: Field.digestAlgorithm)
      page.put(UInt8(digest.bytes.count), at: Field.digestLength)
      page.put(digest.bytes, at: Field.digest)
    }
    page.put(header.place, at: Field.place)
    page.put(UInt32(header.source.utf8.count), at: Field.sourceLength)
    page.put(header.source.utf8, at: Field.source)
    seal(&page)
    return page
  }

  /// Reads one header page back. The version is looked at before the hash: a later format may put it
  /// elsewhere.
  package func decodeHeader(_ page: [UInt8]) throws(ManifestError) -> ManifestHeader {
    guard page.hasPrefix(Self.headerMagic) else { throw .notOurs }
    guard page.count == ManifestLayout.pageSize else { throw .damaged("a header is cut off") }
    let version = page.get(UInt32.self, at: Field.version)
    guard version <= Self.version else { throw .newerVersion(version) }
    guard version == Self.version else { throw .damaged("no format \(version) was ever written") }
    guard isSealed(page) else { throw .damaged("a header's hash does not match") }
    guard page.isBlank(12..<16), page.isBlank(83..<84) else {
      throw .damaged("a reserved field is used")
    }
    guard let kind = ManifestHeader.ValidatorKind(rawValue: page[Field.validatorKind]) else {
      throw .damaged("no such kind of validator")
    }
    guard kind != .none || page.isBlank(Field.validatorHash..<Field.digest) else {
      throw .damaged("a validator's hash without a validator")
    }
    return ManifestHeader(
      id: ManifestID(
        high: page.get(UInt64.self, at: Field.id), low: page.get(UInt64.self, at: Field.id + 8)),
      created: Int(page.get(Int64.self, at: Field.created)),
      grid: try grid(in: page),
      source: try source(in: page),
      place: page.get(UInt64.self, at: Field.place),
      validatorKind: kind,
      validatorHash: Array(page[Field.validatorHash..<Field.digest]),
      expectedDigest: try digest(in: page),
      device: page.get(UInt64.self, at: Field.device),
      inode: page.get(UInt64.self, at: Field.inode))
  }

  private func grid(in page: [UInt8]) throws(ManifestError) -> ChunkGrid {
    guard let length = Int(exactly: page.get(UInt64.self, at: Field.length)), length <= Self.greatestLength
    else { throw .damaged("the length is out of bounds") }
    guard let size = Int(exactly: page.get(UInt64.self, at: Field.chunkSize)),
      Self.chunkSizes.contains(size), size.nonzeroBitCount == 1
    else { throw .damaged("the chunk size is out of bounds") }
    let grid = ChunkGrid(length: length, chunkSize: size)
    guard grid.count <= ChunkGrid.mostChunks,
      page.get(UInt64.self, at: Field.chunkCount) == UInt64(grid.count)
    else { throw .damaged("the chunk count is out of bounds") }
    return grid
  }

  private func source(in page: [UInt8]) throws(ManifestError) -> String {
    let count = Int(page.get(UInt32.self, at: Field.sourceLength))
    let room = page[Field.source..<ManifestLayout.pageSize - ManifestLayout.hashSize]
    guard count <= ManifestHeader.mostSourceBytes, room.dropFirst(count).allSatisfy({ $0 == 0 }),
      let source = String(validating: room.prefix(count), as: UTF8.self), ManifestHeader.isStorable(source)
    else { throw .damaged("the source is not text") }
    return source
  }

  private func digest(in page: [UInt8]) throws(ManifestError) -> ManifestHeader.ExpectedDigest? {
    let algorithm = page[Field.digestAlgorithm]
    let count = Int(page[Field.digestLength])
    let room = page[Field.digest..<Field.place]
    guard count <= room.count, (algorithm == 0) == (count == 0), room.dropFirst(count).allSatisfy({ $0 == 0 })
    else { throw .damaged("the expected digest is out of bounds") }
    return ManifestHeader.ExpectedDigest(algorithm: algorithm, bytes: Array(room.prefix(count)))
  }
}

// SPDX-License-Identifier: Apache-2.0

import TestSupport

/// One change of a simulated filesystem with a single directory, in the order in which it was asked for.
enum VolumeChange {
  case write(inode: Int, offset: Int, bytes: [UInt8])
  /// Also what preallocation does: new bytes read as zeros.
  case resize(inode: Int, length: Int)
  case name(String, inode: Int)
  case rename(String, to: String)
  case unname(String)

  /// The file whose sync makes it durable; nil for those of the directory.
  var inode: Int? {
    switch self {
    case .write(let inode, _, _), .resize(let inode, _): inode
    case .name, .rename, .unname: nil
    }
  }
}

/// What is on a simulated disk: contents and names. A value: copies are cheap until they change.
struct VolumeImage {
  var files: [Int: [UInt8]] = [:]
  var names: [String: Int] = [:]

  subscript(name: String) -> [UInt8]? { names[name].map { files[$0] ?? [] } }

  mutating func apply(_ change: VolumeChange) {
    switch change {
    case .write(let inode, let offset, let bytes): put(bytes, inode, at: offset)
    case .resize(let inode, let length):
      let size = files[inode]?.count ?? 0
      if length < size { files[inode]?.removeLast(size - length) } else { extend(inode, to: length) }
    case .name(let name, let inode):
      names[name] = inode
      extend(inode, to: 0)
    case .rename(let name, let new):
      // After a crash the name may be gone that is to be renamed: then nothing is left to do.
      guard let inode = names.removeValue(forKey: name) else { return }
      names[new] = inode
    case .unname(let name): names[name] = nil
    }
  }

  /// Does to a change that was never synced what a power loss may do: all of it, nothing, or some sectors, others of
  /// which hold garbage.
  mutating func lose(_ change: VolumeChange, _ dice: inout SeededGenerator) {
    let luck = Int.random(in: 0..<10, using: &dice)
    if luck < 3 { return }
    guard case .write(let inode, let offset, let bytes) = change, luck < 6 else { return apply(change) }
    let sector = Bool.random(using: &dice) ? 512 : 4096
    var start = offset
    while start < offset + bytes.count {
      let end = min((start / sector + 1) * sector, offset + bytes.count)
      switch Int.random(in: 0..<4, using: &dice) {
      case 0: put(dice.bytes(sector), inode, at: start / sector * sector, onlyInside: true)
      case 1: break
      default: put(Array(bytes[start - offset..<end - offset]), inode, at: start)
      }
      start = end
    }
  }

  private mutating func put(_ bytes: [UInt8], _ inode: Int, at offset: Int, onlyInside: Bool = false) {
    if !onlyInside { extend(inode, to: offset + bytes.count) }
    let end = min(offset + bytes.count, files[inode]?.count ?? 0)
    guard offset < end else { return }
    files[inode, default: []].replaceSubrange(offset..<end, with: bytes[..<(end - offset)])
  }

  private mutating func extend(_ inode: Int, to length: Int) {
    let missing = length - (files[inode]?.count ?? 0)
    files[inode, default: []] += [UInt8](repeating: 0, count: max(0, missing))
  }
}

/// What is on stable storage, and what is not yet.
struct VolumeLog {
  private(set) var durable = VolumeImage()
  private(set) var pending: [VolumeChange] = []

  init(_ image: VolumeImage = VolumeImage()) { durable = image }

  mutating func note(_ change: VolumeChange) { pending.append(change) }

  /// A sync of a file, or of the directory where that is nil.
  mutating func sync(_ inode: Int?) {
    for change in pending where change.inode == inode { durable.apply(change) }
    pending.removeAll { $0.inode == inode }
  }

  /// What a power loss leaves.
  func afterPowerLoss(_ dice: inout SeededGenerator) -> VolumeImage {
    var image = durable
    for change in pending { image.lose(change, &dice) }
    return image
  }
}

extension VolumeLog {
  /// What a killed process leaves: the page cache outlives it.
  var afterKill: VolumeImage {
    var image = durable
    for change in pending { image.apply(change) }
    return image
  }
}

/**
 * Runs in a worker thread: the WebRTC connections of all browsers. Encryption in JavaScript takes about 45 ms of CPU a second for each call, which
 * would delay the audio of all other calls on the engine's own thread.
 */
import { parentPort, workerData } from "node:worker_threads"
import { BrowserPeer } from "./BrowserPeer.ts"
import { FrameBatch } from "./FrameBatch.ts"
import { frameSize } from "#core/audio/Mulaw.ts"
import { stepBack } from "#runtime/process/ownPriority.ts"
import type { FromPeers, PeerSettings, ToPeers } from "./PeerMessages.ts"

const LOOK_MILLIS = 500
/** After the engine's own thread, on which all other calls' audio depends, and before what only computes. */
const NICENESS = -5

stepBack(NICENESS)

// The engine starts this thread with its settings.
const settings = workerData as PeerSettings
const peers = new Map<number, BrowserPeer>()

const say = (message: FromPeers): void => parentPort?.postMessage(message)
const heard = new FrameBatch((batch) => say(batch))

const open = (peer: number, iceServers: ConstructorParameters<typeof BrowserPeer>[1]): BrowserPeer => {
  const opened = new BrowserPeer(settings, iceServers, {
    answered: (sdp) => say({ _tag: "Answer", peer, sdp }),
    connected: () => say({ _tag: "Connected", peer }),
    ended: (how) => {
      if (peers.delete(peer)) say({ _tag: "Ended", peer, how })
    },
    frame: (frame) => heard.add(peer, frame)
  })
  peers.set(peer, opened)
  return opened
}

const hear = (message: ToPeers): void => {
  switch (message._tag) {
    case "Offer":
      return (peers.get(message.peer) ?? open(message.peer, message.iceServers)).offer(message.sdp)
    case "Candidate":
      return peers.get(message.peer)?.candidate(message.candidate)
    case "Skip":
      return peers.get(message.peer)?.skip(message.frames)
    case "Close": {
      const closed = peers.get(message.peer)
      peers.delete(message.peer)
      return closed?.close()
    }
    case "Audio":
      for (const [at, peer] of message.peers.entries()) peers.get(peer)?.send(message.bytes.subarray(at * frameSize, (at + 1) * frameSize))
  }
}

/** One browser's packets must not end the connections of the others. The connection at fault ends for want of packets. */
const troubled = (error: unknown): void => say({ _tag: "Troubled", error: error instanceof Error ? error.name : "unknown" })
process.on("uncaughtException", troubled)
process.on("unhandledRejection", troubled)

parentPort?.on("message", hear)
setInterval(() => {
  const now = performance.now()
  for (const peer of [...peers.values()]) peer.look(now)
}, LOOK_MILLIS)

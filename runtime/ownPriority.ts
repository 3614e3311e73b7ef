/** The priority of one thread among the engine's. */
import { setPriority } from "node:os"

/**
 * Lets the calls go first, which the main thread carries: `niceness` as the kernel counts it, up to 19. Only on Linux does a thread have a
 * priority of its own; elsewhere it would be the whole engine's. https://man7.org/linux/man-pages/man2/setpriority.2.html
 */
export const stepBack = (niceness: number): void => {
  if (process.platform === "linux") setPriority(0, niceness)
}

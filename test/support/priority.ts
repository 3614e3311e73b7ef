/**
 * Importing this module raises the priority of the test's process, as the engine raises its own, wherever that is permitted. The exchange and the
 * callees live in this process. In life they have machines of their own; here, on a busy machine, their phones would stop ringing and their
 * voices would stand still while the engine runs on. What must hold nevertheless says so with limits that a slow far end keeps.
 */
import { goFirst } from "#runtime/process/ownPriority.ts"

goFirst()

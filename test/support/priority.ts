/**
 * Importing this module raises the priority of the test's process wherever that is permitted, as the engine raises its own. The exchange and
 * the callees live in this process. In reality they run on separate machines; here, on a busy machine, their phones would stop ringing and
 * their voices would stall while the engine continues. Tests of rules that must hold even then have limits that a slow far end can keep.
 */
import { goFirst } from "#runtime/process/ownPriority.ts"

goFirst()

/** Finds PocketSphinx on this machine: Debian's packages `libpocketsphinx3` and `pocketsphinx-en-us`, installed or unpacked into a folder. */
import { existsSync, globSync } from "node:fs"
import { join } from "node:path"

export interface SphinxFiles {
  /** Paths in the order in which they must be loaded, each after those that it needs. */
  readonly libraries: ReadonlyArray<string>
  /** The folder with the acoustic model, and the dictionary. */
  readonly acousticModel: string
  readonly dictionary: string
}

const own = ["libsphinxbase.so.3", "libpocketsphinx.so.3"]
/** Libraries that those need, if they are beside them; otherwise the dynamic loader finds them. */
const needed = ["libquadmath.so.0", "libgcc_s.so.1", "libgfortran.so.5", "libblas.so.3", "liblapack.so.3"]
const model = "usr/share/pocketsphinx/model/en-us"

/** Undefined if `root` lacks any of them. `root` is `/` if the packages are installed. */
export const findSphinx = (root: string): SphinxFiles | undefined => {
  const found = (names: ReadonlyArray<string>) =>
    names.flatMap((name) => globSync(join(root, `{usr/,}lib/*-linux-gnu/{,blas/,lapack/}${name}`)).slice(0, 1))
  const libraries = found(own)
  const acousticModel = join(root, model, "en-us")
  const dictionary = join(root, model, "cmudict-en-us.dict")
  return libraries.length === own.length && existsSync(acousticModel) && existsSync(dictionary)
    ? { libraries: [...found(needed), ...libraries], acousticModel, dictionary }
    : undefined
}

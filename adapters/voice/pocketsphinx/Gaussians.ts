/** The files `means` and `variances` of a CMU Sphinx acoustic model: a text header, a mark of the byte order, dimensions, and floats in a row. */

export interface Gaussians {
  readonly codebooks: number
  /** Streams of features, such as the cepstra and their slopes; each Gaussian of a codebook has one part in each stream. */
  readonly streams: number
  readonly densities: number
  /** The length of a Gaussian's part in a stream, which is the same in all streams. */
  readonly width: number
  /** By codebook, stream and density. */
  readonly values: Float32Array
}

const endOfHeader = "endhdr\n"
/** Names no checksum, which is optional. */
const header = `s3\nversion 1.0\n${endOfHeader}`
const byteOrder = 0x11223344

/** Throws if it is not such a file. */
export const readGaussians = (file: Uint8Array): Gaussians => {
  const at = Buffer.from(file.buffer, file.byteOffset, file.byteLength).indexOf(endOfHeader) + endOfHeader.length
  const view = new DataView(file.buffer, file.byteOffset + at, file.byteLength - at)
  const isLittle = view.getUint32(0, true) === byteOrder
  const number = (index: number) => view.getUint32(4 * index, isLittle)
  const [codebooks, streams, densities] = [number(1), number(2), number(3)]
  const widths = Array.from({ length: streams }, (_, stream) => number(4 + stream))
  const [width = 0] = widths
  const count = number(4 + streams)
  if (number(0) !== byteOrder || widths.some((one) => one !== width) || count !== codebooks * streams * densities * width) {
    throw new Error("an acoustic model that is not understood")
  }
  const first = 4 * (5 + streams)
  const values = Float32Array.from({ length: count }, (_, index) => view.getFloat32(first + 4 * index, isLittle))
  return { codebooks, streams, densities, width, values }
}

export const writeGaussians = ({ codebooks, densities, streams, values, width }: Gaussians): Uint8Array => {
  const numbers = [byteOrder, codebooks, streams, densities, ...Array.from({ length: streams }, () => width), values.length]
  const file = new Uint8Array(header.length + 4 * (numbers.length + values.length))
  file.set(new TextEncoder().encode(header))
  const view = new DataView(file.buffer, header.length)
  for (const [index, number] of numbers.entries()) view.setUint32(4 * index, number, true)
  for (const [index, value] of values.entries()) view.setFloat32(4 * (numbers.length + index), value, true)
  return file
}

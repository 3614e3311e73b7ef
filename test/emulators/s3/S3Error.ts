/** An error as S3 answers it: a status and an XML document with a code. */
export class S3Error extends Error {
  readonly status: number
  readonly code: string

  constructor(status: number, code: string) {
    super(code)
    this.status = status
    this.code = code
  }

  get xml(): string {
    return `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${this.code}</Code><Message>${this.code} it is</Message><RequestId>1</RequestId></Error>`
  }
}

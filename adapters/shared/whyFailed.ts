import { refusedCode, refusedWords } from "#core/egress/Egress.ts"

/** Says why a connection failed, by its code alone, because the messages of some errors quote what was sent. */
export const whyFailed = ({ code }: NodeJS.ErrnoException, otherwise: string): string =>
  code === refusedCode ? refusedWords : (code ?? otherwise)

/** Names that a source file declares, found by looking for the usual words in front of them. No parser is asked. */

export interface Declared {
  readonly name: string;
  /** `class`, `function` …: the word that stands in front. */
  readonly kind: string;
  /** From 0. */
  readonly line: number;
}

const CODE = /\.(?:[cm]?[jt]sx?|py|go|rs|java|kt|swift|cs|cpp|cc|c|h|hpp|rb|php|scala|sh|lua|ex|exs|dart|vue|svelte)$/;
const DECLARATION =
  /\b(class|interface|type|enum|struct|trait|module|namespace|function|func|fn|def|const|let|var|val)\s+\*?([A-Za-z_$][\w$]{1,99})/g;
/** Lines beyond this are made by machines. */
const LINE_MAX_CHARACTERS = 500;
/** What is declared deeper inside is nobody's mention. */
const INDENT_MAX_CHARACTERS = 8;
const LOCAL: ReadonlySet<string> = new Set(['const', 'let', 'var', 'val']);

export function isCode(file: string): boolean {
  return CODE.test(file);
}

export function* declarationsIn(text: string): Generator<Declared> {
  let line = 0;
  for (const content of text.split('\n')) {
    if (content.length <= LINE_MAX_CHARACTERS) yield* declarationsOf(content, line);
    line++;
  }
}

function* declarationsOf(content: string, line: number): Generator<Declared> {
  const indent = content.length - content.trimStart().length;
  if (indent > INDENT_MAX_CHARACTERS || /^\s*(?:\/\/|#|\*|\/\*)/.test(content)) return;
  for (const [, kind = '', name = ''] of content.matchAll(DECLARATION)) {
    if (indent === 0 || !LOCAL.has(kind)) yield { name, kind, line };
  }
}

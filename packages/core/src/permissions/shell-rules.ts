/**
 * Rules for commands. An allowing rule must cover every simple command of a line, what wrappers run, and every file
 * that output is redirected to; a forbidding rule needs only one match. Where this cannot be known, a person is asked.
 */
import { fitsFile, isInFolders, isOrdinaryFile, type Places, placeOf } from './places.js';
import { CHANGES_SHELL, PLAIN_PROGRAMS, riskyWords, WRITERS } from './risky-options.js';
import { fitsPieces, type Rule, type ShellPattern, shellPattern, type Token } from './rules.js';
import type { ShellLine, ShellRedirection, ShellWord, SimpleCommand } from './shell-line.js';
import { baseName, isWrapper, wrapped } from './wrappers.js';

export interface CoverOptions {
  /** Rules that allow commands. */
  readonly shell: readonly Rule[];
  /** Rules that allow changing or reading files. */
  readonly edit: readonly Rule[];
  readonly read: readonly Rule[];
  readonly places: Places;
  /** True when files in the session's folders may be written without a rule. */
  readonly acceptsEdits: boolean;
  /**
   * Arguments must be known, and must not lead outside the session's folders: nobody wrote these rules for this folder.
   */
  readonly staysInside?: boolean;
}

export type Coverage =
  /** `rules`: those that were needed, without duplicates. */
  | { readonly kind: 'covered'; readonly rules: readonly Rule[] }
  | {
      readonly kind: 'open';
      readonly commands: readonly SimpleCommand[];
      readonly targets: readonly ShellRedirection[];
    };

/** Checks whether rules allow all of a line. */
export function coverLine({ kind, commands }: ShellLine, options: CoverOptions): Coverage {
  if (kind === 'unclear' || commands.length === 0) return { kind: 'open', commands, targets: [] };
  const cover = new Cover(
    options,
    commands.some(({ words }) => MOVES.has(words[0]?.text ?? '')),
  );
  for (const command of commands) cover.add(command);
  return cover.result();
}

/** After these commands, relative paths mean other files. */
const MOVES: ReadonlySet<string> = new Set(['cd', 'pushd', 'popd', 'chdir']);
/** Files that discard what is written to them, or pass it on. */
const NULL_DEVICES: ReadonlySet<string> = new Set(['/dev/null', '/dev/stdout', '/dev/stderr']);

class Cover {
  readonly #used = new Set<Rule>();
  readonly #open: SimpleCommand[] = [];
  readonly #targets: ShellRedirection[] = [];

  constructor(
    private readonly options: CoverOptions,
    private readonly hasMoved: boolean,
  ) {}

  add(command: SimpleCommand): void {
    const rules = command.words.length === 0 && command.assignments.length === 0 ? [] : this.#rulesFor(command, 0);
    if (!rules) this.#open.push(command);
    else for (const rule of rules) this.#used.add(rule);
    for (const redirection of command.redirections) this.#redirected(redirection);
  }

  result(): Coverage {
    if (this.#open.length > 0 || this.#targets.length > 0)
      return { kind: 'open', commands: this.#open, targets: this.#targets };
    return { kind: 'covered', rules: [...this.#used] };
  }

  /** The rules that cover a command, directly or through what it runs. */
  #rulesFor(command: SimpleCommand, depth: number): readonly Rule[] | undefined {
    const direct = this.options.shell.find((rule) => this.#covers(rule, command));
    if (direct) return [direct];
    const inner = depth < 4 ? wrapped(command) : undefined;
    if (inner?.kind !== 'inner' || inner.commands.length === 0) return undefined;
    const all: Rule[] = [];
    for (const each of inner.commands) {
      const rules = this.#rulesFor(each, depth + 1);
      if (!rules) return undefined;
      all.push(...rules);
      for (const redirection of each.redirections) this.#redirected(redirection);
    }
    return all;
  }

  #covers({ pattern }: Rule, command: SimpleCommand): boolean {
    if (pattern === undefined) return true;
    const { assignments, tokens } = shellPattern(pattern);
    const { words } = command;
    if (assignments.length !== command.assignments.length) return false;
    if (assignments.some((each, index) => each !== command.assignments[index])) return false;
    if (!fitsWords(tokens, words)) return false;
    const isExact = tokens.every(({ kind }) => kind === 'literal');
    if (isExact) return true;
    return this.#isMeant(words, (index) => tokens[index]?.kind === 'literal', tokens);
  }

  /** True when the words that a star matches are what a person may expect there. */
  #isMeant(words: readonly ShellWord[], isNamed: (index: number) => boolean, tokens: ShellPattern['tokens']): boolean {
    const program = words[0]?.text ?? '';
    const name = baseName(program);
    if (CHANGES_SHELL.has(name)) return false;
    const unnamed = words.map((_, index) => index).filter((index) => !isNamed(index));
    if (
      unnamed.some((index) => words[index]?.kind === 'made') &&
      !(PLAIN_PROGRAMS.has(program) && !this.options.staysInside)
    )
      return false;
    if (riskyWords(name, words).some((index) => !isNamed(index))) return false;
    if (MOVES.has(name) && !this.#staysInside(words)) return false;
    if (WRITERS.has(name) && unnamed.some((index) => !this.#canWrite(words[index]))) return false;
    if (this.options.staysInside && unnamed.some((index) => index > 0 && !this.#isInside(words[index]))) return false;
    if (!wrapped({ assignments: [], words, redirections: [] })) return true;
    return this.#namesInner(words, isNamed, tokens);
  }

  /** True when a rule for a wrapper names what the wrapper runs. */
  #namesInner(
    words: readonly ShellWord[],
    isNamed: (index: number) => boolean,
    tokens: ShellPattern['tokens'],
  ): boolean {
    const [, second] = tokens;
    if (second?.kind !== 'literal' || second.text.startsWith('-') || second.text.includes('=')) return false;
    if (isWrapper(second.text) || CHANGES_SHELL.has(second.text)) return false;
    return riskyWords(baseName(second.text), words.slice(1)).every((index) => isNamed(index + 1));
  }

  #staysInside(words: readonly ShellWord[]): boolean {
    const [, to, ...more] = words;
    return to?.kind === 'literal' && !to.text.startsWith('-') && more.length === 0 && this.#isInside(to);
  }

  /** True for a word that is not a path outside the session's folders. */
  #isInside(word: ShellWord | undefined): boolean {
    if (!word || word.kind === 'made') return false;
    const { text, isHome } = word;
    if (text.startsWith('-') && !/[/~]/.test(text)) return true;
    const file = text.startsWith('-') ? text.slice(text.search(/[/~]/)) : text.slice(text.indexOf('=') + 1);
    if (isHome || file.startsWith('~')) return false;
    const literal = word.kind === 'names' ? file.slice(0, Math.max(0, file.search(/[*?[]/))) : file;
    const { places } = this.options;
    const real = placeOf(places, literal);
    // Where a pattern matches several names, links among them may lead out of the folders.
    return real !== undefined && isInFolders(places, real) && !/(?:^|\/)\.\.(?:\/|$)/.test(file.slice(literal.length));
  }

  #canWrite(word: ShellWord | undefined): boolean {
    if (!word || word.kind === 'made') return false;
    const { text, isHome } = word;
    if (text.startsWith('-')) return !/[/~]/.test(text);
    const file = text.slice(text.indexOf('=') + 1);
    if (this.hasMoved && !isHome && !file.startsWith('/')) return false;
    if (!isHome && this.#isInside(word)) return true;
    if (word.kind !== 'literal') return false;
    const real = placeOf(this.options.places, file, isHome);
    return real !== undefined && this.#editRule(real) !== undefined;
  }

  #redirected(redirection: ShellRedirection): void {
    const { access, target } = redirection;
    if (target.kind === 'literal' && NULL_DEVICES.has(target.text)) return;
    const { places, acceptsEdits } = this.options;
    const isKnown = target.kind === 'literal' && !(this.hasMoved && !target.isHome && !target.text.startsWith('/'));
    const real = isKnown ? placeOf(places, target.text, target.isHome) : undefined;
    if (real === undefined) this.#targets.push(redirection);
    else if (access === 'read') {
      const rule = this.options.read.find((each) => isFor(each, places, real));
      if (rule) this.#used.add(rule);
      else if (!isInFolders(places, real)) this.#targets.push(redirection);
    } else {
      const rule = this.#editRule(real);
      if (rule) this.#used.add(rule);
      else if (!(acceptsEdits && isOrdinaryFile(places, real))) this.#targets.push(redirection);
    }
  }

  #editRule(real: string): Rule | undefined {
    return this.options.edit.find((rule) => isFor(rule, this.options.places, real));
  }
}

/** True when a rule for files allows this one. Outside the session's folders, the rule must name the place. */
export function isFor({ pattern }: Pick<Rule, 'pattern'>, places: Places, real: string): boolean {
  if (pattern === undefined) return isInFolders(places, real);
  const { fits, names } = fitsFile(places, pattern, real);
  return fits && (names || isInFolders(places, real));
}

function fitsWords(tokens: readonly Token[], words: readonly ShellWord[]): boolean {
  const isOpen = tokens.at(-1)?.kind === 'rest';
  const fixed = isOpen ? tokens.length - 1 : tokens.length;
  if (words.length < fixed || (!isOpen && words.length !== fixed)) return false;
  return tokens.slice(0, fixed).every((token, index) => {
    const word = words[index];
    return word?.kind === 'literal' && !word.isHome === !isHomeToken(token) && fitsToken(token, word.text);
  });
}

function isHomeToken(token: Token): boolean {
  return token.kind === 'literal'
    ? /^~(?:\/|$)/.test(token.text)
    : token.kind === 'glob' && /^~\//.test(token.pieces[0] ?? '');
}

function fitsToken(token: Token, text: string): boolean {
  if (token.kind === 'literal') return token.text === text;
  if (token.kind === 'rest') return true;
  // A leading star does not match an option.
  const isOption = text.startsWith('-') && !token.pieces[0]?.startsWith('-');
  return !isOption && fitsPieces(token.pieces, text);
}

/** `maybe`: it depends on values that are known only at run time. */
export type Finding = 'yes' | 'maybe' | 'no';

/** Finds out whether a rule that forbids or asks applies to a command of this line. */
export function findInLine({ pattern }: Rule, { kind, commands }: ShellLine): Finding {
  if (pattern === undefined) return 'yes';
  const { tokens } = shellPattern(pattern);
  let found: Finding = kind === 'unclear' ? 'maybe' : 'no';
  for (const command of commands) {
    const here = findInCommand(tokens, command, 0);
    if (here === 'yes') return 'yes';
    if (here === 'maybe') found = 'maybe';
  }
  return found;
}

/** These only put words in front of a command, so the command is found after them. */
const PREFIXES: ReadonlySet<string> = new Set(
  'sudo doas pkexec setsid stdbuf ionice chrt taskset setarch nohup nice time timeout command builtin exec strace ltrace npx bunx pnpx hyperfine caffeinate fakeroot torsocks proxychains rlwrap env'.split(
    ' ',
  ),
);

function findInCommand(tokens: readonly Token[], command: SimpleCommand, depth: number): Finding {
  const direct = findInWords(tokens, command.words);
  if (direct === 'yes' || depth > 4) return direct;
  const inner = wrapped(command);
  if (!inner) return direct;
  if (inner.kind === 'inner') {
    const all = inner.commands.map((each) => findInCommand(tokens, each, depth + 1));
    return strongest([direct, ...all]);
  }
  const suffixes = inner.words.slice(0, 30).map((_, index) => findInWords(tokens, inner.words.slice(index)));
  const name = baseName(command.words[0]?.text ?? '');
  return strongest([direct, PREFIXES.has(name) ? 'no' : 'maybe', ...suffixes]);
}

function strongest(findings: readonly Finding[]): Finding {
  if (findings.includes('yes')) return 'yes';
  return findings.includes('maybe') ? 'maybe' : 'no';
}

/** Looks for the words of the rule in order; options and their values may be between them, and anything may follow. */
function findInWords(tokens: readonly Token[], words: readonly ShellWord[]): Finding {
  const [program, ...others] = tokens;
  const [first, ...args] = words;
  if (!program || !first) return 'no';
  if (first.kind !== 'literal') return 'maybe';
  if (!isProgram(program, first.text)) return 'no';
  let at = 0;
  let isBehindOption = false;
  for (const word of args) {
    const token = others[at];
    if (!token || token.kind === 'rest') return 'yes';
    if (word.kind !== 'literal') return 'maybe';
    if (fitsToken(token, word.text)) {
      at += 1;
      isBehindOption = false;
    } else if (word.text.startsWith('-')) isBehindOption = true;
    else if (isBehindOption) isBehindOption = false;
    else return 'no';
  }
  return others.slice(at).every(({ kind }) => kind === 'rest') ? 'yes' : 'no';
}

/** Compares a program's name. `/bin/rm` and `RM` are `rm` to a rule that forbids it. */
function isProgram(token: Token, program: string): boolean {
  const names = [program, baseName(program), baseName(program).toLowerCase()];
  if (token.kind === 'rest') return true;
  return names.some((name) =>
    token.kind === 'literal'
      ? token.text === name || token.text.toLowerCase() === name
      : fitsPieces(token.pieces, name),
  );
}

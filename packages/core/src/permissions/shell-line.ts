/**
 * Reads a command line for the POSIX shell into its simple commands, as far as the text alone decides what would run.
 *
 * The parser (unbash) knows the grammar of bash. But `/bin/sh` runs the line, and that may be dash, bash or another
 * shell, so only what all of them understand alike is accepted; everything else makes the line *unclear*. A parser for
 * a whole language has errors, and an error here could let a program run that nobody allowed. So this file trusts the
 * parser in one thing only, where words begin and end, and checks that, too: it reads each word again from its
 * characters; between the words of one command it accepts only blanks, and between commands only separators.
 */
import {
  type Assignment,
  type Command,
  type CommandNode,
  forEachChild,
  type HereDoc,
  type Redirection as ParsedRedirection,
  type ParsedScript,
  type Word as ParsedWord,
  parse,
  type Statement,
  type SyntaxNode,
} from 'unbash';
import {
  COMMAND_MAX_CHARACTERS,
  COMMAND_WORDS_MAX,
  LINE_COMMANDS_MAX,
  LINE_DEPTH_MAX,
  LINE_OPENINGS_MAX,
} from './limits.js';

export interface ShellWord {
  /** What the program gets; if that is known only at run time, the word as written. */
  readonly text: string;
  /**
   * `names`: file names from a pattern with a literal beginning, so none is an option. `made`: any text, known only at
   * run time.
   */
  readonly kind: 'literal' | 'names' | 'made';
  /** Begins with `~` for the home folder. */
  readonly isHome?: boolean;
}

export interface ShellRedirection {
  readonly access: 'read' | 'write';
  readonly target: ShellWord;
}

export interface SimpleCommand {
  /** Assignments before the program, such as `PATH=/tmp`. */
  readonly assignments: readonly string[];
  /** The program and its arguments; empty for a bare assignment or redirection. */
  readonly words: readonly ShellWord[];
  readonly redirections: readonly ShellRedirection[];
}

export type ShellLine =
  | { readonly kind: 'clear'; readonly commands: readonly SimpleCommand[] }
  /** `commands` are those that can be seen, for rules that forbid. */
  | { readonly kind: 'unclear'; readonly why: string; readonly commands: readonly SimpleCommand[] };

/** Thrown and caught in this file only. */
class Unclear extends Error {}

/** Invisible characters, and some that certain shells treat as blanks. */
const UNSEEN = /[^\P{C}\t\n]|[^\P{Z} ]/u;

export function readShellLine(line: string): ShellLine {
  if (line.length > COMMAND_MAX_CHARACTERS)
    return { kind: 'unclear', why: `it is longer than ${COMMAND_MAX_CHARACTERS} characters`, commands: [] };
  if ((line.match(/[(`{<]/g)?.length ?? 0) > LINE_OPENINGS_MAX)
    return { kind: 'unclear', why: 'it is nested too deep', commands: [] };
  const found: SimpleCommand[] = [];
  try {
    readInto(found, line, 0);
    return { kind: 'clear', commands: found };
  } catch (error) {
    // A line that exhausts the stack is as unclear as any other.
    const why = error instanceof Unclear ? error.message : 'it cannot be parsed';
    return { kind: 'unclear', why, commands: visibleCommands(line) };
  }
}

function readInto(found: SimpleCommand[], line: string, depth: number): void {
  if (depth > LINE_DEPTH_MAX) throw new Unclear('it is nested too deep');
  if (UNSEEN.test(line)) throw new Unclear('it has invisible characters');
  const script = parse(line);
  if (script.errors?.length || script.shebang !== undefined) throw new Unclear('it cannot be parsed');
  new LineReader(found, line, depth).read(script);
}

/** A stretch of the line that was read, with the number of its command. */
interface Piece {
  readonly start: number;
  readonly end: number;
  readonly group: number;
}

/** What may be between two commands. */
const BETWEEN =
  /^(?:[ \t\n]|\\\n|(?<=[\s;&|()]|^)#[^\n]*(?=\n|$)|&&|\|\||[;&|()]|(?<![^\s;&|()])(?:[{}!]|if|then|elif|else|fi|for|in|do|done|while|until|time(?:[ \t]+-p)?)(?![^\s;&|()]))*$/;
const SEPARATES = /[\n;&|(){}!]|\b(?:if|then|elif|else|fi|for|in|do|done|while|until|time)\b/;
/** Some shells read these pairs as one sign, others as two. */
const PAIRS = /\|&|&\||;;|;&|\(\(|&>/;
const BLANKS = /^(?:[ \t]|\\\n)*$/;
const LOOP_NAME = /^[a-z][a-z0-9]{0,7}$/;

class LineReader {
  readonly #pieces: Piece[] = [];
  #groups = 0;
  #hereDocs = 0;

  constructor(
    private readonly found: SimpleCommand[],
    private readonly line: string,
    private readonly depth: number,
  ) {}

  read(script: ParsedScript): void {
    this.#statements(script.commands);
    this.#checkBetween();
  }

  #statements(statements: readonly Statement[]): void {
    for (const { command } of statements) this.#node(command);
  }

  #node(node: Statement['command']): void {
    switch (node.type) {
      case 'AndOr':
        for (const each of node.commands) this.#node(each);
        return;
      case 'Pipeline':
        if (node.operators.some((operator) => operator !== '|'))
          throw new Unclear('it has a sign that not every shell knows');
        for (const each of node.commands) this.#node(each);
        return;
      default:
        this.#command(node);
    }
  }

  #command(node: CommandNode): void {
    switch (node.type) {
      case 'Command':
        return this.#simple(node);
      case 'Subshell':
      case 'BraceGroup':
        return this.#statements(node.body.commands);
      case 'If': {
        const parts = [node.clause, node.then, ...node.elif.flatMap(({ clause, then }) => [clause, then])];
        for (const part of node.else ? [...parts, node.else] : parts) this.#statements(part.commands);
        return;
      }
      case 'While':
        this.#statements(node.clause.commands);
        return this.#statements(node.body.commands);
      case 'For': {
        // A loop sets a variable, and some variables decide which program runs.
        if (!LOOP_NAME.test(node.name.text)) throw new Unclear('the variable of its loop may have a special meaning');
        this.#take(node.name, this.#groups++);
        const group = this.#groups++;
        for (const word of node.wordlist ?? []) this.#word(word, group);
        return this.#statements(node.body.commands);
      }
      case 'Redirected': {
        this.#command(node.command);
        const group = this.#groups++;
        const redirections = node.redirects.flatMap((each) => this.#redirection(each, group));
        return this.#add({ assignments: [], words: [], redirections });
      }
      default:
        throw new Unclear(`it has a ${NAMES[node.type] ?? 'part'} that is not examined`);
    }
  }

  #simple({ prefix, name, suffix }: Command): void {
    const group = this.#groups++;
    const assignments: string[] = [];
    const words: ShellWord[] = [];
    const redirections: ShellRedirection[] = [];
    for (const part of [...prefix, ...(name ? [name] : []), ...suffix]) {
      if (part.type === 'Word') words.push(this.#word(part, group));
      else if (part.type === 'Assignment' && words.length === 0) assignments.push(this.#assignment(part, group));
      // In `export A=b`, the assignment is an ordinary word for the program.
      else if (part.type === 'Assignment') words.push(this.#assigned(part, group));
      else redirections.push(...this.#redirection(part, group));
    }
    const [program] = words;
    if (program && program.kind !== 'literal') throw new Unclear('which program it starts is known only when it runs');
    if (words.length > COMMAND_WORDS_MAX) throw new Unclear('a command of it has too many words');
    this.#add({ assignments, words, redirections });
  }

  #add(command: SimpleCommand): void {
    this.found.push(command);
    if (this.found.length > LINE_COMMANDS_MAX) throw new Unclear(`it has more than ${LINE_COMMANDS_MAX} commands`);
  }

  #assignment(part: Assignment, group: number): string {
    const { text, kind } = this.#assigned(part, group);
    if (kind !== 'literal') throw new Unclear('it sets a variable to something that is known only when it runs');
    return text;
  }

  #assigned({ text, pos, end, value, append, index }: Assignment, group: number): ShellWord {
    if (value.type !== 'Word' || append || index)
      throw new Unclear('it sets a variable in a way that not every shell knows');
    this.#take({ pos, end, text }, group);
    const inner = this.#read(text, pos, expansionsIn(value));
    return inner;
  }

  #word(word: ParsedWord, group: number): ShellWord {
    this.#take(word, group);
    const read = this.#read(word.text, word.pos, expansionsIn(word));
    // Compare the two readings: if they differ, nothing is certain.
    if (read.kind === 'literal' && read.text !== word.value) throw new Unclear('its quotes are not clear');
    return read;
  }

  #take(
    { pos, end, text }: { readonly pos: number; readonly end: number; readonly text: string },
    group: number,
  ): void {
    if (this.line.slice(pos, end) !== text || text === '') throw new Unclear('it cannot be parsed');
    this.#pieces.push({ start: pos, end, group });
  }

  #redirection(part: ParsedRedirection, group: number): ShellRedirection[] {
    if (part.type === 'HereDoc') return this.#hereDoc(part, group);
    if (part.type === 'HereString' || !part.target)
      throw new Unclear('it has a redirection that not every shell knows');
    const { pos, end, operator, target, descriptor } = part;
    if (descriptor?.type === 'FileDescriptorVariable')
      throw new Unclear('it has a redirection that not every shell knows');
    const sign = this.line.slice(pos, target.pos);
    if (!/^\d?(?:>>?|<>?|>\||[<>]&)[ \t]*$/.test(sign) || end !== target.end)
      throw new Unclear('it has a redirection that is not clear');
    this.#pieces.push({ start: pos, end, group });
    const read = this.#read(target.text, target.pos, expansionsIn(target));
    if (read.kind === 'literal' && read.text !== target.value) throw new Unclear('its quotes are not clear');
    if (read.text.startsWith('!')) throw new Unclear('it has a redirection that not every shell knows');
    if (operator === '>&' || operator === '<&') {
      if (!/^(?:\d|-)$/.test(target.text)) throw new Unclear('it has a redirection that not every shell knows');
      return [];
    }
    return [{ access: operator === '<' ? 'read' : 'write', target: read }];
  }

  /** Text that the program reads. It must contain nothing that the shell would expand. */
  #hereDoc({ pos, end, operator, delimiter, body, closing, descriptor }: HereDoc, group: number): ShellRedirection[] {
    const unclear = new Unclear('its here-document is not clear');
    const { text = '', value = '', quoted = false } = delimiter ?? {};
    const isPlain = /^(?:[A-Za-z_]\w*|'[A-Za-z_]\w*'|"[A-Za-z_]\w*")$/.test(text);
    if (!closing || !isPlain || descriptor || this.#hereDocs++ > 0) throw unclear;
    if (this.line.slice(pos, end) !== `${operator}${text}`) throw unclear;
    const content = this.line.slice(body.pos, body.end);
    const lines = content.split('\n').map((each) => (operator === '<<-' ? each.replace(/^\t+/, '') : each));
    const last = this.line.slice(body.end, closing.end);
    const rest = this.line.slice(end, body.pos);
    const isBehind = rest.indexOf('\n') === rest.length - 1 && !/[\\'"`]/.test(rest);
    const isClosed = (operator === '<<-' ? last.replace(/^\t+/, '') : last) === value;
    const isWhole = closing.end === this.line.length || this.line[closing.end] === '\n';
    if (!isBehind || !isClosed || !isWhole || lines.includes(value)) throw unclear;
    if (content !== '' && !content.endsWith('\n')) throw unclear;
    if (!quoted && /[$`\\]/.test(content)) throw unclear;
    this.#pieces.push({ start: pos, end, group });
    this.#pieces.push({ start: body.pos, end: closing.end, group: this.#groups++ });
    return [];
  }

  /** Reads a word from its characters. `expansions` maps the beginning of each substitution to its end. */
  #read(text: string, offset: number, expansions: ReadonlyMap<number, number>): ShellWord {
    let value = '';
    let isMade = false;
    let firstPattern: number | undefined;
    let isHome = false;
    if (text === '[') return { text, kind: 'literal' };
    if (/[=:]~/.test(text)) throw new Unclear('it has a ~ whose meaning depends on the shell');
    if (/^[=#]/.test(text) || (text.startsWith('!') && text.length > 1))
      throw new Unclear('it has a sign that not every shell knows');
    const expansion = (at: number): number => {
      isMade = true;
      const plain = /^\$(?:[A-Za-z_]\w*|\{[A-Za-z_]\w*\}|[0-9@*#?$!-])/.exec(text.slice(at));
      if (plain) return at + plain[0].length;
      const end = (expansions.get(offset + at) ?? 0) - offset;
      if (end <= at) throw new Unclear('it has an expansion that is not examined');
      this.#substituted(text.slice(at, end));
      return end;
    };
    for (let at = 0; at < text.length; ) {
      const sign = text[at] ?? '';
      if (sign === "'") {
        const close = text.indexOf("'", at + 1);
        if (close < 0) throw new Unclear('a quote is not closed');
        value += text.slice(at + 1, close);
        at = close + 1;
      } else if (sign === '"') {
        at += 1;
        for (;;) {
          const inner = text[at];
          if (inner === undefined) throw new Unclear('a quote is not closed');
          if (inner === '"') break;
          if (inner === '$' || inner === '`') {
            const end = expansion(at);
            value += text.slice(at, end);
            at = end;
          } else if (inner === '\\') {
            const next = text[at + 1];
            if (next === undefined || next === '\n') throw new Unclear('a quote is broken over lines');
            value += '$`"\\'.includes(next) ? next : inner + next;
            at += 2;
          } else {
            value += inner;
            at += 1;
          }
        }
        at += 1;
      } else if (sign === '\\') {
        const next = text[at + 1];
        if (next === undefined || next === '\n') throw new Unclear('a word is broken over lines');
        value += next;
        at += 2;
      } else if (sign === '$' || sign === '`') {
        const end = expansion(at);
        value += text.slice(at, end);
        at = end;
      } else if (sign === '*' || sign === '?' || sign === '[') {
        firstPattern ??= value.length;
        value += sign;
        at += 1;
      } else if (sign === '~' && at === 0) {
        if (!/^~(?:\/|$)/.test(text)) throw new Unclear('it names the home folder of another user');
        isHome = true;
        value += sign;
        at += 1;
      } else if (/[{}]/.test(sign)) {
        // Some shells expand braces. `find` gets them unchanged.
        if (text !== '{}') throw new Unclear('it has braces that not every shell reads alike');
        value += sign;
        at += 1;
      } else if (/[\w./,:=@%+^!~#\]-]/.test(sign) || sign > '\u007f') {
        value += sign;
        at += 1;
      } else throw new Unclear('a word has a sign that is not examined');
    }
    if (isMade) return { text: value, kind: 'made' };
    if (firstPattern === undefined) return { text: value, kind: 'literal', ...(isHome && { isHome }) };
    const isNoOption = firstPattern > 0 && !value.startsWith('-');
    return { text: value, kind: isNoOption ? 'names' : 'made', ...(isHome && { isHome }) };
  }

  /** Reads the commands in a substitution; they count like any other command of the line. */
  #substituted(text: string): void {
    if (text.startsWith('$((') && text.endsWith('))')) {
      // Variables in arithmetic may contain further arithmetic, and in some shells that runs commands.
      if (!/^[\s\d+\-*/%()<>=!&|^~?:]*$/.test(text.slice(3, -2)))
        throw new Unclear('it has a sum that is not examined');
    } else if (text.startsWith('$(') && text.endsWith(')')) readInto(this.found, text.slice(2, -1), this.depth + 1);
    else if (text.startsWith('`') && text.endsWith('`') && text.length > 1 && !/[\\`]/.test(text.slice(1, -1)))
      readInto(this.found, text.slice(1, -1), this.depth + 1);
    else throw new Unclear('it has an expansion that is not examined');
  }

  /** Checks that every character of the line belongs to a word or a separator. */
  #checkBetween(): void {
    const pieces = this.#pieces.sort((a, b) => a.start - b.start);
    let at = 0;
    let group: number | undefined;
    for (const piece of [...pieces, { start: this.line.length, end: this.line.length, group: undefined }]) {
      const between = this.line.slice(at, piece.start);
      if (piece.start < at) throw new Unclear('it cannot be parsed');
      if (piece.group !== undefined && piece.group === group) {
        if (between === '' || !BLANKS.test(between)) throw new Unclear('it cannot be parsed');
      } else this.#checkSeparator(between, group !== undefined, piece.group !== undefined);
      at = piece.end;
      group = piece.group;
    }
  }

  #checkSeparator(between: string, isAfter: boolean, isBefore: boolean): void {
    const isGlued = (isAfter && /^[A-Za-z{}!#]/.test(between)) || (isBefore && /[A-Za-z{}!]$/.test(between));
    if (!BETWEEN.test(between) || PAIRS.test(between.replace(/#[^\n]*/g, '')) || isGlued)
      throw new Unclear('it has a sign between commands that is not examined');
    if (isAfter && isBefore && !SEPARATES.test(between)) throw new Unclear('it cannot be parsed');
  }
}

const NAMES: Readonly<Record<string, string>> = {
  Function: 'function',
  Case: 'case',
  TestCommand: '[[ test',
  ArithmeticCommand: 'sum',
  ArithmeticFor: 'loop',
  Select: 'select',
  Coproc: 'coprocess',
};

/** Where the substitutions of a word begin and end. */
function expansionsIn(word: ParsedWord): ReadonlyMap<number, number> {
  const ends = new Map<number, number>();
  for (const part of word.parts ?? []) {
    const inner = part.type === 'DoubleQuoted' ? part.parts : [part];
    for (const each of inner)
      if (each.type === 'CommandExpansion' || each.type === 'ArithmeticExpansion') ends.set(each.pos, each.end);
  }
  return ends;
}

/** The commands of a line as the parser sees them, right or wrong: good enough to forbid one of them. */
function visibleCommands(line: string): readonly SimpleCommand[] {
  const found: SimpleCommand[] = [];
  let steps = 0;
  const visit = (node: SyntaxNode, depth: number): void => {
    if (steps++ > 5_000 || depth > 100 || found.length >= LINE_COMMANDS_MAX) return;
    if (node.type === 'Command') {
      const given = [...(node.name ? [node.name] : []), ...node.args].slice(0, COMMAND_WORDS_MAX);
      const words = given.map((word): ShellWord => {
        if (word.type !== 'Word') return { text: word.text, kind: 'literal' };
        const isMade = word.parts?.some(
          (part) => !/^(?:Literal|SingleQuoted|DoubleQuoted|AnsiCQuoted)$/.test(part.type),
        );
        return { text: word.value, kind: isMade || /[$`]/.test(word.text) ? 'made' : 'literal' };
      });
      found.push({ assignments: [], words, redirections: [] });
    }
    forEachChild(node, (child) => visit(child, depth + 1));
  };
  try {
    visit(parse(line), 0);
  } catch {
    // The commands found so far still count.
  }
  return found;
}

/** A permission rule, as files contain it and people see it: `shell(git diff *)`, `edit(src/**)`, `web_fetch`. */
import { RULE_EFFECTS, type RuleEffect, type RuleScope } from '@atrium/protocol/ahp-1';
import { RULE_MAX_CHARACTERS, RULES_MAX } from './limits.js';

export interface Rule {
  readonly effect: RuleEffect;
  /**
   * A kind of call (`shell`, `edit`, `read`, `web_fetch`), the name of a tool, `owner:tool` for an extension's, or `*`.
   */
  readonly tool: string;
  readonly pattern?: string;
  readonly scope: RuleScope;
}

/** The rules of one place, as a file contains them. */
export type RuleTexts = { readonly [E in RuleEffect]?: readonly string[] };

/** The stored text of a rule. */
export function ruleText({ tool, pattern }: Pick<Rule, 'tool' | 'pattern'>): string {
  return pattern === undefined ? tool : `${tool}(${pattern})`;
}

/** Reads the text of a rule. Throws an error that says what is wrong with it. */
export function parseRule(text: string, effect: RuleEffect, scope: RuleScope): Rule {
  if (text.length > RULE_MAX_CHARACTERS) throw new Error(`a rule may have at most ${RULE_MAX_CHARACTERS} characters`);
  if (/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u.test(text)) throw new Error('a rule must not have invisible characters');
  const [, tool = '', pattern] = /^([^\s()]+)(?:\((.*)\))?$/s.exec(text.trim()) ?? [];
  if (tool === '') throw new Error(`"${text}" is not a rule: write tool or tool(pattern), such as shell(git diff *)`);
  const trimmed = pattern?.trim();
  if (trimmed === '') throw new Error(`the pattern of "${text}" is empty: write ${tool} alone for every call`);
  // A star alone means the same as no pattern.
  if (trimmed === undefined || trimmed === '*') return { effect, tool, scope };
  if (tool === 'shell' && effect === 'allow') checkAllowedProgram(trimmed);
  return { effect, tool, pattern: trimmed, scope };
}

/** Throws unless the first word names one program: people must be able to read in a rule what it allows. */
function checkAllowedProgram(pattern: string): void {
  const program = shellPattern(pattern).tokens[0];
  if (program === undefined || program.kind !== 'literal')
    throw new Error(`"${pattern}" must begin with the name of a program, without *`);
}

export interface ParsedRules {
  readonly rules: readonly Rule[];
  /** Rules that could not be read, and why. */
  readonly problems: readonly string[];
}

/**
 * All rules of one place. A broken rule is left out and reported: the rest of the file still forbids, but nothing is
 * allowed by a guess.
 */
export function parseRules(texts: RuleTexts, scope: RuleScope): ParsedRules {
  const rules: Rule[] = [];
  const problems: string[] = [];
  for (const effect of RULE_EFFECTS) {
    for (const text of texts[effect] ?? []) {
      if (rules.length >= RULES_MAX)
        return { rules, problems: [...problems, `only the first ${RULES_MAX} rules count`] };
      try {
        rules.push(parseRule(text, effect, scope));
      } catch (error) {
        problems.push(error instanceof Error ? error.message : String(error));
      }
    }
  }
  return { rules, problems };
}

export type Token =
  | { readonly kind: 'literal'; readonly text: string }
  /** A word with stars: the pieces between them. Each star matches any characters. */
  | { readonly kind: 'glob'; readonly pieces: readonly string[] }
  /** At the end: any number of further words, or none. */
  | { readonly kind: 'rest' };

export interface ShellPattern {
  /** Assignments before the program, which must match exactly. */
  readonly assignments: readonly string[];
  readonly tokens: readonly Token[];
}

const patterns = new Map<string, ShellPattern>();

/** Reads the pattern of a shell rule: words, possibly in single quotes, in which a star matches any characters. */
export function shellPattern(pattern: string): ShellPattern {
  const known = patterns.get(pattern);
  if (known) return known;
  const tokens = wordsIn(pattern).map(tokenOf);
  const last = tokens.at(-1);
  const isOpen = last?.kind === 'glob' && last.pieces.length === 2 && last.pieces.every((piece) => piece === '');
  const all: readonly Token[] = isOpen ? [...tokens.slice(0, -1), { kind: 'rest' }] : tokens;
  const first = all.findIndex((token) => token.kind !== 'literal' || !/^[A-Za-z_]\w*=/.test(token.text));
  const count = first < 0 ? all.length : first;
  const assignments = all.slice(0, count).flatMap((token) => (token.kind === 'literal' ? [token.text] : []));
  const parsed = { assignments, tokens: all.slice(count) };
  if (patterns.size > 2_000) patterns.clear();
  patterns.set(pattern, parsed);
  return parsed;
}

interface PatternCharacter {
  readonly character: string;
  readonly isStar: boolean;
}

function wordsIn(pattern: string): PatternCharacter[][] {
  const words: PatternCharacter[][] = [];
  let word: PatternCharacter[] | undefined;
  let isQuoted = false;
  for (let at = 0; at < pattern.length; at += 1) {
    const character = pattern[at] ?? '';
    if (character === "'") {
      isQuoted = !isQuoted;
      word ??= [];
    } else if (!isQuoted && /\s/.test(character)) {
      if (word) words.push(word);
      word = undefined;
    } else if (!isQuoted && character === '\\' && at + 1 < pattern.length) {
      at += 1;
      word = [...(word ?? []), { character: pattern[at] ?? '', isStar: false }];
    } else word = [...(word ?? []), { character, isStar: !isQuoted && character === '*' }];
  }
  return word ? [...words, word] : words;
}

function tokenOf(word: readonly PatternCharacter[]): Token {
  const pieces = [''];
  for (const { character, isStar } of word) {
    if (isStar) pieces.push('');
    else pieces[pieces.length - 1] += character;
  }
  return pieces.length === 1 ? { kind: 'literal', text: pieces[0] ?? '' } : { kind: 'glob', pieces };
}

/** Quotes a word so that, in a pattern, it matches only itself. */
export function patternWord(text: string): string {
  return /^[\w./:=@%+,~^-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** True when a text consists of these pieces with any characters between them. */
export function fitsPieces(pieces: readonly string[], text: string): boolean {
  const [first = '', ...others] = pieces;
  const last = others.pop();
  if (last === undefined) return text === first;
  if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length) return false;
  let at = first.length;
  const end = text.length - last.length;
  for (const piece of others) {
    const found = text.indexOf(piece, at);
    if (found < 0 || found + piece.length > end) return false;
    at = found + piece.length;
  }
  return at <= end;
}

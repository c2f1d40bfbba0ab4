/**
 * The rules that "always allow" would write: the narrowest useful ones. Each is tried before it is shown, so that it
 * certainly allows a call like this one; if no rule does, nothing is proposed.
 */
import path from 'node:path';
import { decide, type PermissionCall, type PermissionFacts } from './decide.js';
import { PROPOSED_RULES_MAX } from './limits.js';
import { isInFolders, type Places, placeOf } from './places.js';
import { readOnlyRules } from './read-only.js';
import { riskyWords } from './risky-options.js';
import { parseRule, patternWord, type Rule, shellPattern } from './rules.js';
import { readShellLine, type SimpleCommand } from './shell-line.js';
import { coverLine } from './shell-rules.js';
import { wrapped } from './wrappers.js';

/** The texts of the proposed rules; empty when no rule would help. */
export function proposedRules(call: PermissionCall, facts: PermissionFacts): readonly string[] {
  const texts = [...new Set(proposed(call, facts))];
  if (texts.length === 0 || texts.length > PROPOSED_RULES_MAX) return [];
  try {
    const rules = texts.map((text) => parseRule(text, 'allow', 'session'));
    return decide(call, { ...facts, rules: [...facts.rules, ...rules] }).effect === 'allow' ? texts : [];
  } catch {
    return [];
  }
}

function proposed({ subject, tool, owner, isOfClient }: PermissionCall, facts: PermissionFacts): readonly string[] {
  switch (subject.kind) {
    case 'command':
      return subject.isParsed ? forLine(subject.line, facts) : [];
    case 'files': {
      const kind = subject.access === 'write' ? 'edit' : 'read';
      return (subject.paths ?? []).map((file) => `${kind}(${filePattern(facts.places, file)})`);
    }
    case 'host':
      return [`web_fetch(${subject.host}:${subject.port})`];
    default:
      return isOfClient ? [] : [owner === undefined ? tool : `${owner}:${tool}`];
  }
}

function forLine(text: string, facts: PermissionFacts): readonly string[] {
  const line = readShellLine(text);
  if (line.kind === 'unclear') return [];
  const allows = facts.rules.filter(({ effect }) => effect === 'allow');
  const ofTool = (tool: string) => allows.filter((rule) => rule.tool === tool);
  const acceptsEdits = facts.mode === 'accept-edits' || facts.mode === 'auto';
  const rules = { shell: ofTool('shell'), edit: ofTool('edit'), read: ofTool('read') };
  const coverage = coverLine(line, { ...rules, places: facts.places, acceptsEdits });
  if (coverage.kind === 'covered') return [];
  const commands = coverage.commands.flatMap((command) => innermost(command, 0));
  const inner = commands.flatMap(({ redirections }) => redirections);
  const targets = [...coverage.targets, ...inner].map(({ access, target }) => {
    const file = target.isHome ? path.join(facts.places.home, target.text.slice(1)) : target.text;
    return `${access === 'write' ? 'edit' : 'read'}(${filePattern(facts.places, file)})`;
  });
  return [...commands.filter(({ words }) => words.length > 0).map((command) => forCommand(command)), ...targets];
}

/** The commands that wrappers run, instead of the wrappers. */
function innermost(command: SimpleCommand, depth: number): readonly SimpleCommand[] {
  const inner = depth < 4 ? wrapped(command) : undefined;
  return inner?.kind === 'inner' ? inner.commands.flatMap((each) => innermost(each, depth + 1)) : [command];
}

/** The rule for a command: any arguments if the command only looks, otherwise exactly these. */
function forCommand({ assignments, words }: SimpleCommand): string {
  const trusted = readOnlyRules({ isTrusted: true });
  const looks = assignments.length === 0 ? trusted.find((rule) => isLike(rule, words)) : undefined;
  const isPlain = riskyWords(words[0]?.text ?? '', words).length === 0;
  if (looks?.pattern !== undefined && isPlain) return `shell(${looks.pattern})`;
  return `shell(${[...assignments, ...words.map(({ text }) => text)].map(patternWord).join(' ')})`;
}

function isLike({ pattern = '' }: Rule, words: SimpleCommand['words']): boolean {
  const { tokens } = shellPattern(pattern);
  return tokens.every(
    (token, index) => token.kind === 'rest' || (token.kind === 'literal' && token.text === words[index]?.text),
  );
}

/** A pattern that matches only this file: relative to the session's folder if the file is inside. */
function filePattern(places: Places, file: string): string {
  const real = placeOf(places, file) ?? file;
  const [first] = places.folders;
  const isInFirst = first !== undefined && isInFolders({ ...places, folders: [first] }, real);
  const shown = isInFirst ? path.relative(first, real).split(path.sep).join('/') : real;
  const escaped = shown.replace(/[*?[\]{}\\]/g, '\\$&');
  // Without a slash, the pattern would match every file of that name.
  return isInFirst && !escaped.includes('/') ? `./${escaped}` : escaped;
}

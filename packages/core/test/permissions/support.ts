import type { PermissionMode } from '@atrium/protocol/ahp-1';
import { type Decision, decide, type PermissionCall, type PermissionFacts } from '../../src/permissions/decide.js';
import { parseRules, type RuleTexts } from '../../src/permissions/rules.js';
import type { CallSubject } from '../../src/permissions/subjects.js';

export const FOLDER = '/srv/project';

interface Given {
  readonly mode?: PermissionMode;
  readonly isTrusted?: boolean;
  readonly links?: Readonly<Record<string, string>>;
}

/** Facts with these rules, on a machine where only the given links exist. */
export function factsOf(
  texts: RuleTexts,
  { mode = 'ask', isTrusted = false, links = {} }: Given = {},
): PermissionFacts {
  const { rules, problems } = parseRules(texts, 'person');
  if (problems.length > 0) throw new Error(problems.join('\n'));
  const realPath = (file: string): string => {
    const link = Object.keys(links).find((each) => file === each || file.startsWith(`${each}/`));
    return link === undefined ? file : `${links[link]}${file.slice(link.length)}`;
  };
  return { rules, mode, isTrusted, places: { folders: [FOLDER], home: '/home/me', realPath } };
}

export function callOf(subject: CallSubject, more: Partial<PermissionCall> = {}): PermissionCall {
  return { subject, tool: 'shell', isReadOnly: false, ...more };
}

export function commandCall(line: string): PermissionCall {
  return callOf({ kind: 'command', line, isParsed: true });
}

export function decideCommand(line: string, facts: PermissionFacts): Decision {
  return decide(commandCall(line), facts);
}

/** A tool that runs commands asks where nothing is decided. */
export function outcome({ effect }: Decision): 'allow' | 'ask' | 'deny' {
  return effect === 'none' ? 'ask' : effect;
}

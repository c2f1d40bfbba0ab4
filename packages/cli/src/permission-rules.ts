/** Permission rules in words: for `atrium permissions` and the chat's /permissions. */
import type { Client } from '@atrium/client';
import {
  ADD_PERMISSION_METHOD,
  type CallPermission,
  type ListedRule,
  PERMISSIONS_METHOD,
  type PermissionList,
  permissionWords,
  REMOVE_PERMISSION_METHOD,
  RULE_EFFECTS,
  type RuleEffect,
  readPermissionList,
  TEST_PERMISSION_METHOD,
  WRITABLE_SCOPES,
  type WritableScope,
} from '@atrium/protocol/ahp-1';
import { callExtension } from './connect/with-client.js';
import { UsageError } from './exit.js';
import { ago } from './sessions/summary-text.js';
import { printable } from './text/printable.js';
import { table } from './text/table.js';

type Channel = { readonly channel?: string };

export async function listRules(client: Client, where: Channel): Promise<PermissionList> {
  return readPermissionList(await callExtension(client, PERMISSIONS_METHOD, { ...where }));
}

/**
 * One rule in each line, with a number for removing it. Its origin may be long, so it comes last, where the edge cuts
 * it.
 */
export function rulesText({ rules, problems }: PermissionList, columns: number): string {
  const rows = rules.map((rule, index) => [
    String(index + 1),
    rule.effect,
    printable(rule.rule),
    useOf(rule),
    originOf(rule),
  ]);
  const shown = rows.length === 0 ? 'There are no rules.' : table(rows, columns);
  return [shown, ...problems.map((problem) => `! ${printable(problem)}`)].join('\n');
}

function originOf({ scope, from }: ListedRule): string {
  return from === undefined ? scope : `${scope}: ${printable(from)}`;
}

function useOf({ lastUsed, isIdle }: ListedRule): string {
  if (isIdle !== undefined) return `does not count: ${printable(isIdle)}`;
  return lastUsed === undefined ? 'not used yet' : `used ${ago(new Date(lastUsed).toISOString(), Date.now())}`;
}

export async function addRule(client: Client, rule: PlacedRule): Promise<void> {
  await callExtension(client, ADD_PERMISSION_METHOD, { ...rule });
}

/** True if the rule existed. */
export async function removeRule(client: Client, rule: PlacedRule): Promise<boolean> {
  const answer = (await callExtension(client, REMOVE_PERMISSION_METHOD, { ...rule })) as { wasThere?: boolean };
  return answer.wasThere === true;
}

export async function testCommand(client: Client, where: Channel, command: string): Promise<CallPermission> {
  return (await callExtension(client, TEST_PERMISSION_METHOD, { ...where, command })) as CallPermission;
}

/** The decision about a command, in words. */
export function verdictText(permission: CallPermission): string {
  const { effect, proposes = [] } = permission;
  const said = permissionWords(permission);
  const words = effect === 'none' ? (said ?? 'Asked: no rule is about it') : (said ?? effect);
  const offer = proposes.length === 0 ? [] : [`"Always allow" would write: ${proposes.join(', ')}`];
  return [words, ...offer].map((line) => printable(line)).join('\n');
}

export interface PlacedRule extends Channel {
  readonly scope: WritableScope;
  readonly effect: RuleEffect;
  readonly rule: string;
}

export function effectIn(word: string | undefined): RuleEffect {
  const effect = RULE_EFFECTS.find((each) => each === word);
  if (!effect) throw new UsageError(`say allow, ask or deny, not ${word ?? 'nothing'}`);
  return effect;
}

export function scopeIn(word: string): WritableScope {
  const scope = WRITABLE_SCOPES.find((each) => each === word);
  if (!scope) throw new UsageError(`say session, project or person, not ${word}`);
  return scope;
}

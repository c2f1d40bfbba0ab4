/**
 * What rules say about the calls of one session. The session's own rules are records of the log; those of host, person
 * and project come from the store. The mode is a value of the session's configuration, and `autoApprove` counts as a
 * rule that allows everything.
 */
import { homedir } from 'node:os';
import {
  ALWAYS_OPTIONS,
  allowsAll,
  alwaysLabel,
  type CallPermission,
  type ChatState,
  type ConfirmationOption,
  MODE_PROPERTY,
  modeIn,
  PLAN_OPTIONS,
  PLAN_TOOL,
  type RuleEffect,
  type SessionState,
  type WritableScope,
} from '@atrium/protocol/ahp-1';
import { type Decision, decide, type PermissionCall, type PermissionFacts } from '../permissions/decide.js';
import { type Places, realPath } from '../permissions/places.js';
import { proposedRules } from '../permissions/propose.js';
import { parseRule, type Rule, ruleText } from '../permissions/rules.js';
import type { PermissionStore, StoredRules } from '../permissions/store.js';
import { subjectOf } from '../permissions/subjects.js';
import type { AskedCall, CallDecision, CallPermissions } from '../tool-calls/call-context.js';
import type { AllowedTool, ToolPermissions } from './session-records.js';

export interface SessionPermissionsOptions {
  readonly uri: string;
  readonly state: () => SessionState;
  /** The tools that a person allowed for the rest of the session, and its own rules. */
  readonly kept: ToolPermissions;
  readonly store: PermissionStore | undefined;
}

const LABELS: Readonly<Record<WritableScope, string>> = {
  session: 'in this session',
  project: 'in this project',
  person: 'everywhere',
};

export class SessionPermissions implements CallPermissions {
  readonly #options: SessionPermissionsOptions;

  constructor(options: SessionPermissionsOptions) {
    this.#options = options;
  }

  has(tool: AllowedTool): boolean {
    return this.#options.kept.has(tool);
  }

  add(tool: AllowedTool): void {
    this.#options.kept.add(tool);
  }

  /** Decides at once, unless it must look up trust: most calls wait for nothing. */
  decide(asked: AskedCall): CallDecision | Promise<CallDecision> {
    const facts = this.#facts(asked.folders, asked.tool, asked.tool.toolClientId !== undefined);
    return facts instanceof Promise ? facts.then((known) => this.#decided(asked, known)) : this.#decided(asked, facts);
  }

  #decided(asked: AskedCall, facts: PermissionFacts): CallDecision {
    const { tool, input, runs, isReadOnly, folders, isAskedAnyway } = asked;
    const subject = subjectOf({ tool: tool.name, input, runs });
    const isOfClient = tool.toolClientId !== undefined;
    const call: PermissionCall = {
      ...{ subject, tool: tool.name, owner: tool.owner, isOfClient },
      isReadOnly: isReadOnly || (runs === 'agent' && (readsOnly(tool.name) || isRead(subject))),
    };
    const decision = decide(call, facts);
    if (decision.rules.length > 0) this.#options.store?.used(decision.rules, this.#options.uri, folders);
    const proposes = decision.effect === 'none' && isAskedAnyway ? proposedRules(call, facts) : [];
    return {
      effect: decision.effect,
      permission: permissionOf(decision, facts, proposes),
      ...(decision.effect === 'deny' && { reason: reasonOf(decision) }),
      proposes,
      options: proposes.length === 0 ? [] : this.#alwaysOptions(proposes, folders),
    };
  }

  /** Shows people who try a rule what it would decide. */
  async test(call: PermissionCall, folders: readonly string[]): Promise<CallPermission> {
    const facts = await this.#facts(folders, { name: call.tool, owner: call.owner }, call.isOfClient ?? false);
    const decision = decide(call, facts);
    return (
      permissionOf(decision, facts, decision.effect === 'none' ? proposedRules(call, facts) : []) ?? {
        effect: 'none',
        mode: facts.mode,
      }
    );
  }

  #facts(
    folders: readonly string[],
    tool: AllowedTool,
    isOfClient: boolean,
  ): PermissionFacts | Promise<PermissionFacts> {
    const mode = modeIn(this.#options.state().config?.values);
    const stored = this.#options.store?.rulesFor(folders, mode === 'plan' || mode === 'auto') ?? NO_RULES;
    const known = (rules: StoredRules) => this.#known(rules, folders, isOfClient ? undefined : tool);
    return stored instanceof Promise ? stored.then(known) : known(stored);
  }

  #known(stored: StoredRules, folders: readonly string[], tool: AllowedTool | undefined): PermissionFacts {
    const { kept, state } = this.#options;
    const values = state().config?.values;
    const forTool = tool && kept.has(tool) ? [ruleForTool(tool)] : [];
    const forAll = allowsAll(values) ? [EVERYTHING] : [];
    return {
      rules: [...stored.rules, ...kept.rules(), ...forTool, ...forAll],
      mode: modeIn(values),
      isTrusted: stored.isTrusted,
      places: placesOf(folders),
    };
  }

  #alwaysOptions(proposes: readonly string[], folders: readonly string[]): ConfirmationOption[] {
    const scopes: readonly WritableScope[] = ['session', ...(this.#options.store?.writable(folders) ?? [])];
    return scopes.map((scope) => ({
      id: ALWAYS_OPTIONS[scope],
      label: alwaysLabel(proposes, LABELS[scope]),
      kind: 'approve',
      group: 1,
    }));
  }

  /** Stores rules exactly as they were shown. Throws an error for people when that fails. */
  async write(
    scope: WritableScope,
    effect: RuleEffect,
    texts: readonly string[],
    folders: readonly string[],
  ): Promise<void> {
    for (const text of texts) parseRule(text, effect, scope);
    if (scope === 'session') return this.#options.kept.addRules(effect, texts);
    if (!this.#options.store?.writable(folders).includes(scope))
      throw new Error(
        scope === 'project' ? 'this session has no folder to keep rules in' : 'this host keeps no rules for a person',
      );
    await this.#options.store.add({ scope, effect, folders }, texts);
  }
}

/** Looked up when a rule wants to know: most calls are decided without. */
function placesOf(folders: readonly string[]): Places {
  let real: readonly string[] | undefined;
  return {
    get folders() {
      real ??= folders.map((folder) => realPath(folder));
      return real;
    },
    get home() {
      return homedir();
    },
    realPath,
  };
}

const NO_RULES: StoredRules = { rules: [], isTrusted: false };
const EVERYTHING: Rule = { effect: 'allow', tool: '*', scope: 'session' };

function ruleForTool({ name, owner }: AllowedTool): Rule {
  return { effect: 'allow', tool: owner === undefined ? name : `${owner}:${name}`, scope: 'session' };
}

/** Agents' own tools that change nothing except what people see of the agent's work. */
const READ_ONLY_TOOLS: ReadonlySet<string> = new Set(
  'todowrite update_todo task agent glob grep ls read view search think websearch webfetch fetch web_fetch askuserquestion ask_user exitplanmode report_intent toolsearch other_read'.split(
    ' ',
  ),
);

function readsOnly(tool: string): boolean {
  return READ_ONLY_TOOLS.has(tool.toLowerCase());
}

function isRead(subject: PermissionCall['subject']): boolean {
  return subject.kind === 'files' && subject.access === 'read';
}

/** What the call records about permission; undefined when no rule decided and the mode is the default. */
function permissionOf(
  { effect, rule, why }: Decision,
  { mode }: PermissionFacts,
  proposes: readonly string[],
): CallPermission | undefined {
  if (effect === 'none' && why === undefined && mode === 'ask' && proposes.length === 0) return undefined;
  return {
    effect,
    mode,
    ...(rule && { rule: ruleText(rule), scope: rule.scope }),
    ...(why !== undefined && { why }),
    ...(proposes.length > 0 && { proposes }),
  };
}

function reasonOf({ rule, why }: Decision): string {
  if (why !== undefined) return why;
  return rule ? `the rule "deny ${ruleText(rule)}" (${rule.scope}) forbids it` : 'a rule forbids it';
}

type Values = Readonly<Record<string, unknown>>;

/**
 * The mode that a person chose for a session. The answer to a plan chooses one for the work of that plan only, so that
 * the session counts as one in plan mode.
 */
export function chosenMode({ turns, activeTurn }: ChatState, values: Values | undefined): unknown {
  const mode = values?.[MODE_PROPERTY];
  const parts = [...turns, ...(activeTurn ? [activeTurn] : [])].flatMap(({ responseParts }) => responseParts);
  const plan = parts.findLast((part) => part.kind === 'toolCall' && part.toolCall.toolName === PLAN_TOOL);
  const call = plan?.kind === 'toolCall' ? plan.toolCall : undefined;
  const answer = call && 'selectedOption' in call ? call.selectedOption?.id : undefined;
  const isOfPlan = Object.entries(PLAN_OPTIONS).some(([each, id]) => each === mode && id === answer);
  return isOfPlan ? 'plan' : mode;
}

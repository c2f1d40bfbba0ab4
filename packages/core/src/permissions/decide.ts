/**
 * What rules and the mode say about a call, before gates and people are asked. Deny beats ask beats allow, whatever the
 * scope. The answer names the rule that decided. `none` means that no rule applies, and the tool itself decides whether
 * to ask a person.
 */
import { type PermissionMode, RULE_SCOPES, type RuleEffect, type RuleScope } from '@atrium/protocol/ahp-1';
import { isOrdinaryFile, type Places, placeOf } from './places.js';
import { readOnlyRules } from './read-only.js';
import type { Rule } from './rules.js';
import { readShellLine, type ShellLine } from './shell-line.js';
import { coverLine, type Finding, findInLine, isFor } from './shell-rules.js';
import type { CallSubject } from './subjects.js';

export interface PermissionCall {
  readonly subject: CallSubject;
  /** The owner's name for the tool. */
  readonly tool: string;
  /** The extension that offers the tool; absent for tools of the host and the agent. */
  readonly owner?: string | undefined;
  /** A client runs it: only a rule for all calls can allow it. */
  readonly isOfClient?: boolean;
  /** The tool is marked as changing nothing. */
  readonly isReadOnly: boolean;
}

export interface PermissionFacts {
  readonly rules: readonly Rule[];
  readonly mode: PermissionMode;
  readonly places: Places;
  /** True when a person has trusted the session's folder. */
  readonly isTrusted: boolean;
}

export interface Decision {
  readonly effect: RuleEffect | 'none';
  /** The rule that decided; if several were needed, the first. */
  readonly rule?: Rule;
  /** All rules that were needed. */
  readonly rules: readonly Rule[];
  /** The reason in words, when no rule says it. */
  readonly why?: string;
}

export const PLAN_REFUSAL =
  'the session is in plan mode: only looking is allowed. Finish with a plan for the person to accept, and change nothing before that';

export function decide(call: PermissionCall, facts: PermissionFacts): Decision {
  const { subject } = call;
  const line = subject.kind === 'command' && subject.isParsed ? readShellLine(subject.line) : undefined;
  const looked: DecisionContext = { call, facts, line };
  const forbidding = byStrength(facts.rules.filter(({ effect }) => effect !== 'allow'));
  const found = forbidding.map((rule) => ({ rule, finding: findsCall(rule, looked) }));
  const denied = found.find(({ rule, finding }) => rule.effect === 'deny' && finding === 'yes');
  if (denied) return decided('deny', denied.rule);
  const inPlan = facts.mode === 'plan' ? planned(looked) : undefined;
  if (inPlan?.effect === 'deny') return inPlan;
  const asked = found.find(({ rule, finding }) => rule.effect === 'ask' && finding === 'yes');
  if (asked) return decided('ask', asked.rule);
  const unsure = found.find(({ finding }) => finding === 'maybe');
  if (unsure) {
    return { ...decided('ask', unsure.rule), why: 'only when the call runs is it known whether this rule applies' };
  }
  return inPlan ?? allowed(looked);
}

interface DecisionContext {
  readonly call: PermissionCall;
  readonly facts: PermissionFacts;
  readonly line: ShellLine | undefined;
}

function decided(effect: RuleEffect, rule: Rule, rules: readonly Rule[] = [rule]): Decision {
  return { effect, rule, rules };
}

function byStrength(rules: readonly Rule[]): readonly Rule[] {
  const order = (scope: RuleScope) => RULE_SCOPES.indexOf(scope);
  return [...rules].sort((a, b) => order(a.scope) - order(b.scope));
}

/** The tool name that rules use for all calls of this kind. */
function kindOf(subject: CallSubject): string | undefined {
  if (subject.kind === 'command') return 'shell';
  if (subject.kind === 'host') return 'web_fetch';
  if (subject.kind === 'files') return subject.access === 'write' ? 'edit' : 'read';
  return undefined;
}

/** True when a rule forbids a tool. Such a rule applies whatever the owner. */
function forbidsTool({ tool }: Rule, { subject, tool: name, owner }: PermissionCall): boolean {
  const named = tool.toLowerCase();
  return (
    named === '*' ||
    named === kindOf(subject) ||
    named === name.toLowerCase() ||
    named === `${owner}:${name}`.toLowerCase()
  );
}

function allowsTool({ tool }: Rule, { subject, tool: name, owner, isOfClient }: PermissionCall): boolean {
  if (tool === '*') return true;
  if (isOfClient) return false;
  return tool === kindOf(subject) || tool === (owner === undefined ? name : `${owner}:${name}`);
}

function findsCall(rule: Rule, { call, facts, line }: DecisionContext): Finding {
  const { subject } = call;
  if (!forbidsTool(rule, call)) return 'no';
  if (rule.pattern === undefined) return 'yes';
  switch (subject.kind) {
    case 'command':
      return line ? findInLine(rule, line) : 'maybe';
    case 'files': {
      if (subject.paths === undefined) return 'maybe';
      const { pattern = '' } = rule;
      const places = subject.paths.map((file) => placeOf(facts.places, file));
      if (places.some((place) => place !== undefined && isForbidden(pattern, facts.places, place))) return 'yes';
      return places.includes(undefined) ? 'maybe' : 'no';
    }
    case 'host':
      return fitsHost(rule.pattern, subject.host, subject.port, 'any') ? 'yes' : 'no';
    default:
      return 'maybe';
  }
}

/**
 * True when a forbidding pattern matches. Such a pattern is also compared with the bare file name, and applies wherever
 * the file is.
 */
function isForbidden(pattern: string, places: Places, real: string): boolean {
  if (isFor({ pattern }, places, real)) return true;
  return (
    !pattern.startsWith('/') &&
    !pattern.startsWith('~/') &&
    isFor({ pattern: `/**/${pattern}` }, { ...places, folders: ['/'] }, real)
  );
}

function allowed({ call, facts, line }: DecisionContext): Decision {
  const { subject } = call;
  const allows = byStrength(facts.rules.filter((rule) => rule.effect === 'allow'));
  const rules = allows.filter((rule) => allowsTool(rule, call));
  const forAll = rules.find(({ tool, pattern }) => tool === '*' && pattern === undefined);
  const acceptsEdits = facts.mode === 'accept-edits' || facts.mode === 'auto';
  switch (subject.kind) {
    case 'command': {
      const whole = rules.find(({ pattern }) => pattern === undefined);
      if (whole) return decided('allow', whole);
      if (!line) return { effect: 'none', rules: [], why: unreadReason(subject.shell) };
      if (line.kind === 'unclear') return { effect: 'none', rules: [], why: line.why };
      const options = {
        shell: rules,
        edit: ofTool(allows, 'edit'),
        read: ofTool(allows, 'read'),
        places: facts.places,
        acceptsEdits,
      };
      const coverage = coverLine(line, options);
      if (coverage.kind === 'covered') return covering(coverage.rules);
      return facts.mode === 'auto' ? readsOnly(line, facts, acceptsEdits) : NOTHING;
    }
    case 'files': {
      if (forAll) return decided('allow', forAll);
      if (subject.paths === undefined || subject.paths.length === 0) return NOTHING;
      // Most sessions have no rules: then nothing has to be known of the file.
      if (rules.length === 0 && !acceptsEdits) return NOTHING;
      const used = new Set<Rule>();
      for (const file of subject.paths) {
        const real = placeOf(facts.places, file);
        const rule = real === undefined ? undefined : rules.find((each) => isFor(each, facts.places, real));
        const isAccepted =
          acceptsEdits && subject.access === 'write' && real !== undefined && isOrdinaryFile(facts.places, real);
        if (rule) used.add(rule);
        else if (isAccepted) used.add(ACCEPT_EDITS);
        else return NOTHING;
      }
      return covering([...used]);
    }
    case 'host': {
      const rule = rules.find(
        ({ pattern }) => pattern === undefined || fitsHost(pattern, subject.host, subject.port, 'default'),
      );
      return rule ? decided('allow', rule) : NOTHING;
    }
    default: {
      // A pattern cannot match input that is not examined.
      const rule = rules.find(({ pattern }) => pattern === undefined);
      return rule ? decided('allow', rule) : NOTHING;
    }
  }
}

/** Explains beside the question why no rule applies. */
function unreadReason(shell: string | undefined): string {
  if (shell === undefined) return 'rules cannot read the language of this command line';
  return `the agent runs it in ${shell}, and rules read command lines of sh and bash only (start the host with SHELL=/bin/bash to have them count)`;
}

const NOTHING: Decision = { effect: 'none', rules: [] };
/** What a mode allows, expressed as a rule. */
const ACCEPT_EDITS: Rule = { effect: 'allow', tool: 'edit', scope: 'built-in' };

function covering(rules: readonly Rule[]): Decision {
  const [first] = rules;
  return first ? decided('allow', first, rules) : NOTHING;
}

function ofTool(rules: readonly Rule[], tool: string): readonly Rule[] {
  return rules.filter((rule) => rule.tool === tool);
}

function readsOnly(line: ShellLine, facts: PermissionFacts, acceptsEdits: boolean): Decision {
  const shell = readOnlyRules(facts);
  const coverage = coverLine(line, {
    shell,
    edit: [],
    read: [],
    places: facts.places,
    acceptsEdits,
    staysInside: true,
  });
  return coverage.kind === 'covered' ? covering(coverage.rules) : NOTHING;
}

/** Decides in plan mode: it allows tools that are marked, commands that only look, and nothing else. */
function planned({ call, facts, line }: DecisionContext): Decision | undefined {
  const { subject } = call;
  if (subject.kind === 'command') {
    const looks = line ? readsOnly(line, facts, false) : NOTHING;
    return looks.effect === 'allow' ? looks : { effect: 'deny', rules: [], why: PLAN_REFUSAL };
  }
  return call.isReadOnly ? undefined : { effect: 'deny', rules: [], why: PLAN_REFUSAL };
}

/**
 * `docs.rs`, `docs.rs:8080`, `*.rs:443`. Without a port, a rule that allows means the https port, and one that forbids
 * means any.
 */
export function fitsHost(pattern: string, host: string, port: number, without: 'default' | 'any'): boolean {
  const [, name = '', number] = /^(\[[0-9a-f:.]+\]|[^:]+)(?::(\d+|\*))?$/i.exec(pattern.trim()) ?? [];
  const fitsPort = number === undefined ? without === 'any' || port === 443 : number === '*' || Number(number) === port;
  const wanted = name.toLowerCase();
  const asked = host.toLowerCase().replace(/\.$/, '');
  const fitsName = wanted.startsWith('*.')
    ? asked.endsWith(wanted.slice(1)) && asked.length > wanted.length - 1
    : wanted === asked;
  return fitsPort && fitsName && name !== '';
}

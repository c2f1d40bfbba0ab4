/**
 * Providers that a trusted folder lists in its `atrium.json`. Their names are reserved in its sessions: only the
 * process that the host started for a listed provider may bind under its name. Their gates fail closed while they are
 * missing, so that keeping a provider away does not open what it guards.
 */

import type { Gate, GateCall } from '@atrium/core/contracts/extension.js';
import type { ProviderHookRule } from '@atrium/protocol/provider';
import type { ProviderConfig } from '../../config/config-schema.js';
import { unauthorized } from '../gateway-errors.js';
import type { GatewaySession, ProviderGroup } from '../gateway-session.js';
import { hostNameOf, RuleBook } from '../hooks/pre-tool-rules.js';
import type { GatewayService } from '../ports.js';
import type { Binding, Provider } from '../provider.js';

/** The host remembers the last rules of this many programs while it runs; it forgets the oldest first. */
export const REMEMBERED_RULES_MAX = 1_000;
/** The host remembers the last rules of this many instances of one program; it forgets the oldest first. */
export const REMEMBERED_INSTANCES_MAX = 20;

interface ListedProvidersOptions {
  /** Removes a provider from a session that it may not be in, and tells it why. */
  evict(binding: Binding, why: string): void;
  /** Shows a note to the people in a session. */
  note(session: GatewaySession, from: string, text: string): void;
}

type Rules = readonly ProviderHookRule[];

interface Listed {
  readonly name: string;
  /** Identifies the program and its folder: the rules of one say nothing about another of the same name. */
  readonly program: string;
  /** The rules in the file that say which tools it guards. */
  readonly guards: Rules | undefined;
  /** The id under which its current process authenticates. */
  admission: string | undefined;
  /** A person said that it must not run. */
  isGivenUp: boolean;
  /** People have been told that calls do not run without it. */
  isAnnounced: boolean;
}

const ANYTHING_THAT_CHANGES = 'anything that changes something';

export class ListedProviders implements GatewayService {
  readonly #options: ListedProvidersOptions;
  readonly #sessions = new Map<GatewaySession, Map<string, Listed>>();
  /** The rules that each instance of a program had when it was last bound; keyed by program, then by instance. */
  readonly #lastRules = new Map<string, Map<string, Rules>>();
  readonly #book = new RuleBook();

  constructor(options: ListedProvidersOptions) {
    this.#options = options;
  }

  /** Call it when the folder is trusted: reserves the name from now on, and evicts other providers that have it. */
  list(
    session: GatewaySession,
    { name, config, digest }: { name: string; config: ProviderConfig; digest: string },
  ): void {
    const listed = this.#sessions.get(session) ?? new Map<string, Listed>();
    this.#sessions.set(session, listed);
    if (listed.has(keyOf(name))) return;
    const guards = config.guards?.map((tool) => ({ match: { tool }, action: 'deny' as const, reason: '' }));
    const program = JSON.stringify([session.state.workingDirectories?.[0], digest]);
    listed.set(keyOf(name), { name, program, guards, admission: undefined, isGivenUp: false, isAnnounced: false });
    for (const binding of [...session.bindings])
      if (keyOf(binding.provider.name) === keyOf(name)) this.#options.evict(binding, nameInUse(name));
  }

  /**
   * The host started the provider's process, which authenticates under this id. A person's earlier refusal no longer
   * counts.
   */
  expect(session: GatewaySession, name: string, admission: string): void {
    const listed = this.#sessions.get(session)?.get(keyOf(name));
    if (listed) Object.assign(listed, { admission, isGivenUp: false });
  }

  /** A person said that the provider must not run, so it blocks nothing. */
  giveUp(session: GatewaySession, name: string): void {
    const listed = this.#sessions.get(session)?.get(keyOf(name));
    if (listed) listed.isGivenUp = true;
  }

  /** Throws when the name is reserved for another provider. */
  checkName({ name, admission }: Provider, session: GatewaySession): void {
    const listed = this.#sessions.get(session)?.get(keyOf(name));
    if (listed && (admission === undefined || listed.admission !== admission))
      throw unauthorized(nameInUse(listed.name));
  }

  /** Names and messages of missing providers that people have been told about. */
  missing(session: GatewaySession): ReadonlyMap<string, string> {
    const missing = this.#missing(session).filter(({ isAnnounced }) => isAnnounced);
    return new Map(
      missing.map((listed) => [listed.name, `Not connected. Closed until it is: ${this.#closedBy(listed)}`]),
    );
  }

  /** Denies the calls that a missing provider guards. */
  gateOf(session: GatewaySession): Gate {
    const closing = (call: GateCall) => this.#missing(session).find((listed) => this.#guards(listed, session, call));
    return {
      name: 'atrium.json',
      isStatic: true,
      concerns: (call) => closing(call) !== undefined,
      check: (call) => {
        const listed = closing(call);
        if (!listed) return { kind: 'pass' };
        this.#announce(session, listed);
        return { kind: 'deny', reason: `${listed.name} guards this tool in this folder and is not connected. ${HELP}` };
      },
    };
  }

  /**
   * Remembers the rules of connected instances. An instance replaces only its own rules, not those of one that left.
   */
  changed({ session, bindings }: ProviderGroup): void {
    for (const binding of bindings) {
      const listed = this.#listedAs(binding, session);
      if (!listed || binding.isAway) continue;
      listed.isAnnounced = false;
      this.#remember(listed.program, binding);
    }
  }

  #remember(program: string, { provider, rules }: Binding): void {
    const instances = this.#lastRules.get(program) ?? new Map<string, Rules>();
    putLast(this.#lastRules, program, instances, REMEMBERED_RULES_MAX);
    const instance = JSON.stringify(provider.instance ?? null);
    if (rules.length > 0) putLast(instances, instance, rules, REMEMBERED_INSTANCES_MAX);
    else instances.delete(instance);
  }

  /** The rules from the file, or the last rules of each instance; undefined when neither is known. */
  #rulesOf({ guards, program }: Listed): readonly Rules[] | undefined {
    const instances = this.#lastRules.get(program);
    return guards ? [guards] : instances && [...instances.values()];
  }

  ended(session: GatewaySession): undefined {
    this.#sessions.delete(session);
  }

  /**
   * Leaves out providers that are away for a moment, whose own gates deny, and providers that a person switched off.
   */
  #missing(session: GatewaySession): readonly Listed[] {
    const here = new Set(session.bindings.map((binding) => this.#listedAs(binding, session)));
    return [...(this.#sessions.get(session)?.values() ?? [])].filter(
      (listed) => !here.has(listed) && !listed.isGivenUp && session.isEnabled(listed.name),
    );
  }

  #listedAs({ provider: { admission } }: Binding, session: GatewaySession): Listed | undefined {
    if (admission === undefined) return undefined;
    return [...(this.#sessions.get(session)?.values() ?? [])].find((listed) => listed.admission === admission);
  }

  /** A provider whose rules are unknown guards everything that may change something. */
  #guards(listed: Listed, session: GatewaySession, call: GateCall): boolean {
    const lists = this.#rulesOf(listed);
    if (!lists) return !isReadOnly(session, call);
    return lists.some((rules) => this.#book.applying({ rules, session }, call).some(({ rule }) => isClosing(rule)));
  }

  #closedBy(listed: Listed): string {
    const rules = this.#rulesOf(listed)?.flat().filter(isClosing);
    if (!rules) return ANYTHING_THAT_CHANGES;
    return [...new Set(rules.map(({ match }) => match.tool ?? 'any tool'))].join(', ') || 'nothing';
  }

  #announce(session: GatewaySession, listed: Listed): void {
    if (listed.isAnnounced) return;
    listed.isAnnounced = true;
    this.#options.note(
      session,
      listed.name,
      `is not connected; closed until it is: ${this.#closedBy(listed)}. ${HELP}`,
    );
    session.changed(listed.name);
  }
}

const HELP = 'It runs again once it is connected; a person can also switch it off in this session.';

/** Whether a rule denies a call when its provider cannot be asked. */
function isClosing(rule: ProviderHookRule): boolean {
  return rule.action === 'deny' || (rule.action === 'gate' && !rule.failOpen);
}

/** Believes only the host's own tools, because other tools may claim to be read-only. */
function isReadOnly(session: GatewaySession, { toolName, owner }: GateCall): boolean {
  if (owner !== undefined) return false;
  const name = hostNameOf(toolName);
  const tool = session.extensions.tools().find((other) => other.owner === undefined && other.definition.name === name);
  return tool?.definition.annotations?.readOnlyHint === true;
}

/** People read `CI` and `ci` as the same name. */
function keyOf(name: string): string {
  return name.toLowerCase();
}

function nameInUse(name: string): string {
  return `the name ${name} belongs to a provider of this session's folder: use another name`;
}

/** Puts an entry at the end of a map, and drops the first one when there are too many. */
function putLast<Value>(map: Map<string, Value>, key: string, value: Value, max: number): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > max && oldest !== undefined) map.delete(oldest);
}

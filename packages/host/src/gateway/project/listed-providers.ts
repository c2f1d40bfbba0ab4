/**
 * Providers that a trusted folder lists in its `atrium.json`. Their names are theirs in its sessions: only the process
 * that the host started for one of them may bind under its name. And what they guard is guarded also while they are not
 * there: nobody may get past a gate by keeping its provider away.
 */
import type { ProviderHookRule } from '@atrium/protocol/provider';
import type { ProviderConfig } from '../../config/schema.js';
import type { Gate, GateCall } from '../../core/contracts/extension.js';
import { unauthorized } from '../errors.js';
import type { GatewaySession, ProviderGroup } from '../gateway-session.js';
import { hostNameOf, RuleBook } from '../hooks/rules.js';
import type { GatewayService } from '../ports.js';
import type { Binding, Provider } from '../provider.js';

/** Programs whose last rules are remembered while the host runs; the first to be listed is forgotten first. */
export const REMEMBERED_RULES_MAX = 1_000;

export interface ListedProvidersParts {
  /** Takes a provider out of a session where it has no right to be, and tells it why. */
  evict(binding: Binding, why: string): void;
  /** Shows people why something does not run. */
  note(session: GatewaySession, from: string, text: string): void;
}

type Rules = readonly ProviderHookRule[];

interface Listed {
  readonly name: string;
  /** Which program of which folder it is: what one guards says nothing about another, also when it is called the same. */
  readonly program: string;
  /** From the file: the tools that it guards. */
  readonly guards: Rules | undefined;
  /** The process that it is now. */
  admission: string | undefined;
  /** A person does not want it to run. */
  isGivenUp: boolean;
  /** People have been told that something does not run without it. */
  isTold: boolean;
}

const ANYTHING_THAT_CHANGES = 'anything that changes something';

export class ListedProviders implements GatewayService {
  readonly #parts: ListedProvidersParts;
  readonly #sessions = new Map<GatewaySession, Map<string, Listed>>();
  /** The rules that programs had when they were last here. */
  readonly #lastRules = new Map<string, Rules>();
  readonly #book = new RuleBook();

  constructor(parts: ListedProvidersParts) {
    this.#parts = parts;
  }

  /** The folder is trusted: from now on the name is this provider's. Who has it without right makes room. */
  list(
    session: GatewaySession,
    { name, config, digest }: { name: string; config: ProviderConfig; digest: string },
  ): void {
    const listed = this.#sessions.get(session) ?? new Map<string, Listed>();
    this.#sessions.set(session, listed);
    if (listed.has(keyOf(name))) return;
    const guards = config.guards?.map((tool) => ({ match: { tool }, action: 'deny' as const, reason: '' }));
    const program = JSON.stringify([session.state.summary.workingDirectory, digest]);
    listed.set(keyOf(name), { name, program, guards, admission: undefined, isGivenUp: false, isTold: false });
    for (const binding of [...session.bindings])
      if (keyOf(binding.provider.name) === keyOf(name)) this.#parts.evict(binding, taken(name));
  }

  /** The host started its process, which comes in with this. Whoever refused it before has let it run since. */
  expect(session: GatewaySession, name: string, admission: string): void {
    const listed = this.#sessions.get(session)?.get(keyOf(name));
    if (listed) Object.assign(listed, { admission, isGivenUp: false });
  }

  /** A person said that it should not run: then nothing waits for it. */
  giveUp(session: GatewaySession, name: string): void {
    const listed = this.#sessions.get(session)?.get(keyOf(name));
    if (listed) listed.isGivenUp = true;
  }

  /** Throws when the name belongs to somebody else. */
  checkName({ name, admission }: Provider, session: GatewaySession): void {
    const listed = this.#sessions.get(session)?.get(keyOf(name));
    if (listed && (admission === undefined || listed.admission !== admission)) throw unauthorized(taken(listed.name));
  }

  /** Names of those whose absence people have been told of, with words for that. */
  missing(session: GatewaySession): ReadonlyMap<string, string> {
    const missing = this.#missing(session).filter(({ isTold }) => isTold);
    return new Map(
      missing.map((listed) => [listed.name, `Not connected. Closed until it is: ${this.#closedBy(listed)}`]),
    );
  }

  /** Objects to what a provider that is not there would have judged. */
  gateOf(session: GatewaySession): Gate {
    const closing = (call: GateCall) => this.#missing(session).find((listed) => this.#guards(listed, session, call));
    return {
      name: 'atrium.json',
      isStatic: true,
      concerns: (call) => closing(call) !== undefined,
      check: (call) => {
        const listed = closing(call);
        if (!listed) return { kind: 'pass' };
        this.#tell(session, listed);
        return { kind: 'deny', reason: `${listed.name} guards this tool in this folder and is not connected. ${HELP}` };
      },
    };
  }

  /** What it guards may change while it is here. It may be here several times, and not all leave in the same moment. */
  changed({ session, bindings }: ProviderGroup): void {
    for (const binding of bindings) {
      const listed = this.#listedAs(binding, session);
      if (!listed || binding.isAway) continue;
      listed.isTold = false;
      const all = session.bindings.filter((other) => this.#listedAs(other, session) === listed);
      this.#lastRules.delete(listed.program);
      this.#lastRules.set(
        listed.program,
        all.flatMap(({ rules }) => rules),
      );
      const [oldest] = this.#lastRules.keys();
      if (this.#lastRules.size > REMEMBERED_RULES_MAX && oldest !== undefined) this.#lastRules.delete(oldest);
    }
  }

  ended(session: GatewaySession): undefined {
    this.#sessions.delete(session);
  }

  /** One that is away for a moment guards by its own rules. One that a person switched off guards nothing. */
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

  /** By the file, by what it guarded when it was last here, or everything that may change something: nobody knows better. */
  #guards({ guards, program }: Listed, session: GatewaySession, call: GateCall): boolean {
    const rules = guards ?? this.#lastRules.get(program);
    if (!rules) return !isReadOnly(session, call);
    return this.#book.applying({ rules, session }, call).some(({ rule }) => isClosing(rule));
  }

  #closedBy({ guards, program }: Listed): string {
    const rules = (guards ?? this.#lastRules.get(program))?.filter(isClosing);
    if (!rules) return ANYTHING_THAT_CHANGES;
    return [...new Set(rules.map(({ match }) => match.tool ?? 'any tool'))].join(', ') || 'nothing';
  }

  #tell(session: GatewaySession, listed: Listed): void {
    if (listed.isTold) return;
    listed.isTold = true;
    this.#parts.note(session, listed.name, `is not connected; closed until it is: ${this.#closedBy(listed)}. ${HELP}`);
    session.changed(listed.name);
  }
}

const HELP = 'It runs again once it is connected; a person can also switch it off in this session.';

/** What a rule says about a call of which nobody is there to ask. */
function isClosing(rule: ProviderHookRule): boolean {
  return rule.action === 'deny' || (rule.action === 'gate' && !rule.failOpen);
}

/** Only the host's own word counts: what others say of their tools is theirs to say. */
function isReadOnly(session: GatewaySession, { toolName, owner }: GateCall): boolean {
  if (owner !== undefined) return false;
  const name = hostNameOf(toolName);
  const tool = session.extensions.tools().find((other) => other.owner === undefined && other.definition.name === name);
  return tool?.definition.annotations?.readOnlyHint === true;
}

/** `CI` and `ci` are one name to people. */
function keyOf(name: string): string {
  return name.toLowerCase();
}

function taken(name: string): string {
  return `the name ${name} belongs to a provider of this session's folder: use another name`;
}

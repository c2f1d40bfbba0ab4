/**
 * Providers that a trusted folder lists in its `atrium.json`. Their names are theirs in its sessions: only the process
 * that the host started for one of them may bind under its name. And what they guard is guarded also while they are not
 * there: nobody may get past a gate by keeping its provider away.
 */
import type { ProviderHookRule } from '@atrium/protocol/provider';
import type { ProviderConfig } from '../../config/schema.js';
import type { Gate, GateCall } from '../../core/contracts/extension.js';
import { unauthorized } from '../errors.js';
import type { Group, Room } from '../gateway-session.js';
import { hostNameOf, RuleBook } from '../hooks/rules.js';
import type { Binding, Provider } from '../provider.js';
import type { GatewayCore, GatewayService } from '../service.js';

/** Programs whose last rules are remembered while the host runs; the first to be listed is forgotten first. */
export const REMEMBERED_RULES_MAX = 1_000;

export interface ListedProvidersParts {
  readonly core: Pick<GatewayCore, 'evict'>;
  /** Shows people why something does not run. */
  note(room: Room, from: string, text: string): void;
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
  readonly #rooms = new Map<Room, Map<string, Listed>>();
  /** The rules that programs had when they were last here. */
  readonly #lastRules = new Map<string, Rules>();
  readonly #book = new RuleBook();

  constructor(parts: ListedProvidersParts) {
    this.#parts = parts;
  }

  /** The folder is trusted: from now on the name is this provider's. Who has it without right makes room. */
  list(room: Room, { name, config, digest }: { name: string; config: ProviderConfig; digest: string }): void {
    const listed = this.#rooms.get(room) ?? new Map<string, Listed>();
    this.#rooms.set(room, listed);
    if (listed.has(keyOf(name))) return;
    const guards = config.guards?.map((tool) => ({ match: { tool }, action: 'deny' as const, reason: '' }));
    const program = JSON.stringify([room.session.state.summary.workingDirectory, digest]);
    listed.set(keyOf(name), { name, program, guards, admission: undefined, isGivenUp: false, isTold: false });
    for (const binding of [...room.bindings])
      if (keyOf(binding.provider.name) === keyOf(name)) this.#parts.core.evict(binding, taken(name));
  }

  /** The host started its process, which comes in with this. Whoever refused it before has let it run since. */
  expect(room: Room, name: string, admission: string): void {
    const listed = this.#rooms.get(room)?.get(keyOf(name));
    if (listed) Object.assign(listed, { admission, isGivenUp: false });
  }

  /** A person said that it should not run: then nothing waits for it. */
  giveUp(room: Room, name: string): void {
    const listed = this.#rooms.get(room)?.get(keyOf(name));
    if (listed) listed.isGivenUp = true;
  }

  /** Throws when the name belongs to somebody else. */
  checkName({ name, admission }: Provider, room: Room): void {
    const listed = this.#rooms.get(room)?.get(keyOf(name));
    if (listed && (admission === undefined || listed.admission !== admission)) throw unauthorized(taken(listed.name));
  }

  /** Names of those whose absence people have been told of, with words for that. */
  missing(room: Room): ReadonlyMap<string, string> {
    const missing = this.#missing(room).filter(({ isTold }) => isTold);
    return new Map(
      missing.map((listed) => [listed.name, `Not connected. Closed until it is: ${this.#closedBy(listed)}`]),
    );
  }

  /** Objects to what a provider that is not there would have judged. */
  gateOf(room: Room): Gate {
    const closing = (call: GateCall) => this.#missing(room).find((listed) => this.#guards(listed, room, call));
    return {
      name: 'atrium.json',
      isStatic: true,
      concerns: (call) => closing(call) !== undefined,
      check: (call) => {
        const listed = closing(call);
        if (!listed) return { kind: 'pass' };
        this.#tell(room, listed);
        return { kind: 'deny', reason: `${listed.name} guards this tool in this folder and is not connected. ${HELP}` };
      },
    };
  }

  /** What it guards may change while it is here. It may be here several times, and not all leave in the same moment. */
  changed({ room, bindings }: Group): void {
    for (const binding of bindings) {
      const listed = this.#listedAs(binding, room);
      if (!listed || binding.isAway) continue;
      listed.isTold = false;
      const all = room.bindings.filter((other) => this.#listedAs(other, room) === listed);
      this.#lastRules.delete(listed.program);
      this.#lastRules.set(
        listed.program,
        all.flatMap(({ rules }) => rules),
      );
      const [oldest] = this.#lastRules.keys();
      if (this.#lastRules.size > REMEMBERED_RULES_MAX && oldest !== undefined) this.#lastRules.delete(oldest);
    }
  }

  ended(room: Room): undefined {
    this.#rooms.delete(room);
  }

  /** One that is away for a moment guards by its own rules. One that a person switched off guards nothing. */
  #missing(room: Room): readonly Listed[] {
    const here = new Set(room.bindings.map((binding) => this.#listedAs(binding, room)));
    return [...(this.#rooms.get(room)?.values() ?? [])].filter(
      (listed) => !here.has(listed) && !listed.isGivenUp && room.isEnabled(listed.name),
    );
  }

  #listedAs({ provider: { admission } }: Binding, room: Room): Listed | undefined {
    if (admission === undefined) return undefined;
    return [...(this.#rooms.get(room)?.values() ?? [])].find((listed) => listed.admission === admission);
  }

  /** By the file, by what it guarded when it was last here, or everything that may change something: nobody knows better. */
  #guards({ guards, program }: Listed, room: Room, call: GateCall): boolean {
    const rules = guards ?? this.#lastRules.get(program);
    if (!rules) return !isReadOnly(room, call);
    return this.#book.applying({ rules, room }, call).some(({ rule }) => isClosing(rule));
  }

  #closedBy({ guards, program }: Listed): string {
    const rules = (guards ?? this.#lastRules.get(program))?.filter(isClosing);
    if (!rules) return ANYTHING_THAT_CHANGES;
    return [...new Set(rules.map(({ match }) => match.tool ?? 'any tool'))].join(', ') || 'nothing';
  }

  #tell(room: Room, listed: Listed): void {
    if (listed.isTold) return;
    listed.isTold = true;
    this.#parts.note(room, listed.name, `is not connected; closed until it is: ${this.#closedBy(listed)}. ${HELP}`);
    room.changed(listed.name);
  }
}

const HELP = 'It runs again once it is connected; a person can also switch it off in this session.';

/** What a rule says about a call of which nobody is there to ask. */
function isClosing(rule: ProviderHookRule): boolean {
  return rule.action === 'deny' || (rule.action === 'gate' && !rule.failOpen);
}

/** Only the host's own word counts: what others say of their tools is theirs to say. */
function isReadOnly({ session }: Room, { toolName, owner }: GateCall): boolean {
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

/** Whether a `hello` can be taken: who it is, where it wants to be, and whether it fits to those who are there. */
import { randomUUID } from 'node:crypto';
import type { ProviderHelloMessage, ProviderToolDefinition } from '@atrium/protocol/provider';
import type { Access } from './access.js';
import { cannotDo } from './degraded.js';
import { unauthorized } from './gateway-error.js';
import { judgeHello, type Place, placeOf, registrationOf } from './hello.js';
import { duplicate, type Predecessor } from './identities.js';
import { Provider } from './provider.js';
import type { Room } from './room.js';

export interface ArrivalParts {
  /** Throws when the name of a provider is kept for another one in a session. */
  checkName(provider: Provider, room: Room): void;
  /** Throws when tools of a provider cannot stand in a session. */
  checkTools(provider: Provider, room: Room, tools: Iterable<ProviderToolDefinition>): void;
  /** What the agent of a session cannot do for a provider. */
  degraded(provider: Provider, room: Room): readonly string[];
  /** What the agent cannot do is refused, instead of only said. */
  readonly isStrict: boolean;
}

export interface ArrivalFacts {
  readonly hello: ProviderHelloMessage;
  readonly access: Access;
  readonly rooms: readonly Room[];
  /** Whose place it takes; throws when the name is taken. */
  claim(reconnectToken: string | undefined): Predecessor | undefined;
}

export interface Arrival {
  /** As it will be. One that comes back stays the object that it was, and becomes like this one. */
  readonly provider: Provider;
  readonly place: Place;
  readonly predecessor: Predecessor | undefined;
}

/** Throws what is wrong with it. Changes nothing. */
export function judgeArrival(parts: ArrivalParts, { hello, access, rooms, claim }: ArrivalFacts): Arrival {
  judgeHello(hello, access);
  const predecessor = claim(hello.reconnectToken ?? undefined);
  const before = predecessor?.isBack ? predecessor.provider : undefined;
  const place = placeOf(hello, { access, rooms, before });
  const provider = new Provider({
    name: hello.name,
    instance: hello.instance,
    trust: access.trust,
    scope: access.sessionId,
    admission: access.token?.id,
    providerId: before?.providerId ?? `p-${randomUUID()}`,
    isEverywhere: place.isEverywhere,
    registration: registrationOf(hello, before?.registration),
  });
  for (const room of place.rooms) {
    const kept = hello.tools ? undefined : before?.bindings.get(room.id)?.tools;
    checkEntry(parts, { provider, room, except: predecessor?.provider, ...(kept && { tools: kept.values() }) });
  }
  return { provider, place, predecessor };
}

export interface Entry {
  readonly provider: Provider;
  readonly room: Room;
  /** Whoever makes room for it does not count. */
  readonly except?: Provider | undefined;
  /** What it brought, when it brings nothing else. */
  readonly tools?: Iterable<ProviderToolDefinition>;
}

/** Whether a provider can stand in a session, beside those who are there. */
export function checkEntry(parts: ArrivalParts, { provider, room, except, tools }: Entry): void {
  const { name, instance, trust, registration } = provider;
  parts.checkName(provider, room);
  for (const { provider: other } of room.group(name).bindings) {
    if (other === except) continue;
    if (other.instance === instance) throw duplicate(provider);
    // Instances share their tools. A stranger must not get the calls that are meant for one of the project.
    if (other.trust !== trust)
      throw unauthorized(`the name ${name} is taken by one of another trust: use another name`);
  }
  parts.checkTools(provider, room, tools ?? registration.tools.values());
  const [degraded] = parts.isStrict ? parts.degraded(provider, room) : [];
  if (degraded !== undefined) throw unauthorized(cannotDo(degraded));
}

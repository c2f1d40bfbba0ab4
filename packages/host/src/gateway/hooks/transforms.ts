/** What providers change in the prompt of their sessions: fixed texts, and sections that they are asked about. */
import { type ProviderTransform, type ToGatewayMessageMap, transformContentOf } from '@atrium/protocol/provider';
import type { PromptContribution, SectionCallback, StaticTransform } from '../../core/contracts/extension.js';
import { tooLong, tooMany } from '../gateway-error.js';
import type { Binding, Provider } from '../provider.js';
import type { Group } from '../room.js';
import { present } from '../tools/instances.js';
import { Asked } from './asked.js';

/** Updates add to what is there, so without a limit they could go on adding. No prompt has that many sections. */
export const TRANSFORMS_PER_PROVIDER_MAX = 100;
/** Of all of them together, with the names of their sections: it goes into every prompt. */
export const TRANSFORMS_MAX_CHARACTERS = 2 ** 18;

/** Answers name the question; there is only one thing it can be about. */
const TOPIC = '';

export class Transforms {
  readonly #asked = new Asked<string | undefined>();

  of(group: Group): PromptContribution {
    return { transforms: staticTransforms(group), callbacks: this.#callbacks(group) };
  }

  answered(provider: Provider, message: ToGatewayMessageMap['transform.result']): void {
    this.#asked.answer(provider, { id: message.callId, topic: TOPIC }, transformContentOf(message));
  }

  left(provider: Provider): void {
    this.#asked.left(provider);
  }

  #callbacks(group: Group): SectionCallback[] {
    return transformsOf(group).flatMap(({ binding, section, transform }) =>
      transform.action === 'callback'
        ? [{ section, transform: (current, signal) => this.#ask(binding, { section, current, signal }) }]
        : [],
    );
  }

  /** How long to wait is known to whoever renders the prompt. */
  async #ask(
    { provider, sessionId, room }: Binding,
    { section, current, signal }: { section: string; current: string; signal: AbortSignal },
  ): Promise<string | undefined> {
    if (room.isEnding) return undefined;
    const send = (callId: string) => provider.send({ type: 'transform.request', callId, sessionId, section, current });
    return this.#asked.ask({ provider, topic: TOPIC, signal, send });
  }
}

/** What several instances of a provider add is added once. */
function staticTransforms(group: Group): StaticTransform[] {
  const transforms = new Map<string, StaticTransform>();
  for (const { section, transform } of transformsOf(group)) {
    if (transform.action === 'callback') continue;
    const { action, content } = transform;
    transforms.set(JSON.stringify([section, action, content]), { section, action, content });
  }
  return [...transforms.values()];
}

function transformsOf(group: Group) {
  return present(group).flatMap((binding) =>
    [...binding.transforms].map(([section, transform]) => ({ binding, section, transform })),
  );
}

/** Throws when they are more than a provider may have, however they came. */
export function checkTransforms(transforms: ReadonlyMap<string, ProviderTransform>): void {
  if (transforms.size > TRANSFORMS_PER_PROVIDER_MAX) throw tooMany('transforms', TRANSFORMS_PER_PROVIDER_MAX);
  let characters = 0;
  for (const [section, transform] of transforms)
    characters += section.length + (transform.action === 'callback' ? 0 : transform.content.length);
  if (characters > TRANSFORMS_MAX_CHARACTERS) throw tooLong('transforms', TRANSFORMS_MAX_CHARACTERS);
}

/** Null takes one away. */
export function withTransforms(
  before: ReadonlyMap<string, ProviderTransform>,
  changes: Readonly<Record<string, ProviderTransform | null>>,
): Map<string, ProviderTransform> {
  const after = new Map(before);
  for (const [section, change] of Object.entries(changes)) {
    if (change === null) after.delete(section);
    else after.set(section, change);
  }
  return after;
}

/** What providers say to tool calls and prompts: rules, gates, changed sections, context. */
import { type ToGatewayMessageMap, transformContentOf } from '@atrium/protocol/provider';
import type { Extension, SectionCallback, StaticTransform } from '../../extensions/extension.js';
import { authorizeContext, authorizeHooks } from '../authorize.js';
import type { Binding, Provider } from '../provider.js';
import type { Group } from '../room.js';
import type { GatewayCore, GatewayService } from '../service.js';
import { present } from '../tools/instances.js';
import { applyUpdate } from '../updates.js';
import { Asked } from './asked.js';
import { StartupContext } from './context.js';
import { Gates } from './gates.js';
import { compileRules } from './rules.js';

export class ProviderHooks implements GatewayService {
  readonly #core: GatewayCore;
  readonly #gates: Gates;
  readonly #transforms = new Asked<string | undefined>();
  readonly #startup = new StartupContext();

  constructor(core: GatewayCore) {
    this.#core = core;
    this.#gates = new Gates(core);
  }

  readonly handlers = {
    'gate.result': (message: ToGatewayMessageMap['gate.result'], provider: Provider) =>
      this.#gates.answered(provider, message),
    'transform.result': (message: ToGatewayMessageMap['transform.result'], provider: Provider) =>
      this.#transforms.answer(provider, { id: message.callId, topic: '' }, transformContentOf(message)),
    'hooks.update': (message: ToGatewayMessageMap['hooks.update'], provider: Provider) =>
      this.#updateHooks(provider, message),
    'context.update': (message: ToGatewayMessageMap['context.update'], provider: Provider) => {
      authorizeContext(provider.trust);
      applyUpdate(this.#core, provider, message, {
        apply: (binding) => {
          binding.context = message.context ?? '';
        },
      });
    },
  };

  extend(group: Group): Pick<Extension, 'gates' | 'prompt' | 'beforeTurn'> {
    return {
      gates: this.#gates.of(group),
      prompt: { transforms: staticTransforms(group), callbacks: this.#callbacks(group) },
      beforeTurn: async () => {
        const context = present(group.room.group(group.name)).flatMap((binding) => this.#contextOf(binding));
        return context.length === 0 ? undefined : { context: context.join('\n\n') };
      },
    };
  }

  left(provider: Provider): void {
    this.#gates.left(provider);
    this.#transforms.left(provider);
  }

  #updateHooks(provider: Provider, message: ToGatewayMessageMap['hooks.update']): void {
    const { onPreToolUse, transforms = {} } = message;
    authorizeHooks(provider.trust, { rules: onPreToolUse, transforms });
    compileRules(onPreToolUse ?? []);
    applyUpdate(this.#core, provider, message, {
      apply: (binding) => {
        if (onPreToolUse) binding.rules = onPreToolUse;
        binding.transforms = merged(binding.transforms, transforms);
      },
    });
  }

  #contextOf(binding: Binding): string[] {
    const startup = this.#startup.take(binding);
    return [startup, binding.context].filter((text) => text !== '');
  }

  #callbacks(group: Group): SectionCallback[] {
    return present(group).flatMap((binding) =>
      [...binding.transforms].flatMap(([section, { action }]) =>
        action === 'callback' ? [this.#callback(binding, section)] : [],
      ),
    );
  }

  #callback({ provider, sessionId, room }: Binding, section: string): SectionCallback {
    return {
      section,
      transform: async (current, signal) =>
        room.isEnding
          ? undefined
          : this.#transforms.ask({
              provider,
              topic: '',
              signal,
              send: (callId) => provider.send({ type: 'transform.request', callId, sessionId, section, current }),
            }),
    };
  }
}

function staticTransforms(group: Group): StaticTransform[] {
  return present(group).flatMap(({ transforms }) =>
    [...transforms].flatMap(([section, transform]) =>
      transform.action === 'callback' ? [] : [{ section, action: transform.action, content: transform.content }],
    ),
  );
}

function merged<T>(before: ReadonlyMap<string, T>, changes: Readonly<Record<string, T | null>>): Map<string, T> {
  const after = new Map(before);
  for (const [section, change] of Object.entries(changes)) {
    if (change === null) after.delete(section);
    else after.set(section, change);
  }
  return after;
}

/** What providers say to tool calls and prompts: rules, gates, changed sections, context. */
import type { ToGatewayMessageMap } from '@atrium/protocol/provider';
import type { Extension } from '../../extensions/extension.js';
import { authorizeContext, authorizeHooks } from '../authorize.js';
import { tooMany } from '../gateway-error.js';
import type { Provider } from '../provider.js';
import type { Group } from '../room.js';
import type { GatewayCore, GatewayService } from '../service.js';
import { applyUpdate } from '../updates.js';
import { Contexts } from './context.js';
import { Gates } from './gates.js';
import { Overruled } from './overruled.js';
import { compileRules } from './rules.js';
import { Transforms, withTransforms } from './transforms.js';

/** Updates add to what is there, so without a limit they could go on adding. No prompt has that many sections. */
export const TRANSFORMS_PER_PROVIDER_MAX = 100;

export class ProviderHooks implements GatewayService {
  readonly #core: GatewayCore;
  readonly #gates: Gates;
  readonly #transforms = new Transforms();
  readonly #overruled = new Overruled();
  readonly #contexts = new Contexts();

  constructor(core: GatewayCore) {
    this.#core = core;
    this.#gates = new Gates(core);
  }

  readonly handlers = {
    'gate.result': (message: ToGatewayMessageMap['gate.result'], provider: Provider) =>
      this.#gates.answered(provider, message),
    'transform.result': (message: ToGatewayMessageMap['transform.result'], provider: Provider) =>
      this.#transforms.answered(provider, message),
    'hooks.update': (message: ToGatewayMessageMap['hooks.update'], provider: Provider) =>
      this.#updateHooks(provider, message),
    'context.update': (message: ToGatewayMessageMap['context.update'], provider: Provider) =>
      this.#updateContext(provider, message),
  };

  extend(group: Group): Pick<Extension, 'gates' | 'prompt' | 'beforeTurn'> {
    return {
      gates: this.#gates.of(group),
      prompt: this.#transforms.of(group),
      beforeTurn: async () => {
        const context = this.#contexts.take(group);
        return context === undefined ? undefined : { context };
      },
    };
  }

  changed({ room }: Group): void {
    this.#overruled.changed(room);
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
      check: (binding) => {
        const { size } = withTransforms(binding.transforms, transforms);
        if (size > TRANSFORMS_PER_PROVIDER_MAX) throw tooMany('transforms', TRANSFORMS_PER_PROVIDER_MAX);
      },
      apply: (binding) => {
        if (onPreToolUse) binding.rules = onPreToolUse;
        binding.transforms = withTransforms(binding.transforms, transforms);
      },
    });
  }

  #updateContext(provider: Provider, message: ToGatewayMessageMap['context.update']): void {
    authorizeContext(provider.trust);
    applyUpdate(this.#core, provider, message, {
      apply: (binding) => {
        binding.context = message.context ?? '';
      },
    });
  }
}

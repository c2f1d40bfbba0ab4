/** What providers add to tool calls and prompts: gates, changed prompt sections, context for the model. */

import type { Extension } from '@atrium/core/contracts/extension.js';
import type { Clock } from '@atrium/core/util/clock.js';
import type { ToGatewayMessageMap } from '@atrium/protocol/provider';
import { authorizeContext, authorizeHooks, cannotDo, degradedFor } from '../authorize.js';
import { unauthorized } from '../gateway-errors.js';
import type { GatewaySession, ProviderGroup } from '../gateway-session.js';
import type { GatewayService } from '../ports.js';
import { type Binding, type Provider, present } from '../provider.js';
import type { Updates } from '../registration-updates.js';
import { compileRules } from './pre-tool-rules.js';
import { Gates } from './provider-gates.js';
import { checkTransforms, Overruled, Transforms, withTransforms } from './transforms.js';

interface GatewayHooksOptions {
  readonly clock: Clock;
  readonly updates: Updates;
  /** Refuses what a session's agent cannot honour, instead of only reporting it. */
  readonly isStrict: boolean;
}

export class ProviderHooks implements GatewayService {
  readonly #options: GatewayHooksOptions;
  readonly #gates: Gates;
  readonly #transforms = new Transforms();
  readonly #overruled = new Overruled();
  readonly #contexts = new Contexts();

  constructor(options: GatewayHooksOptions) {
    this.#options = options;
    this.#gates = new Gates(options.clock);
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

  extend(group: ProviderGroup): Pick<Extension, 'gates' | 'prompt' | 'beforeTurn'> {
    return {
      gates: this.#gates.of(group),
      prompt: this.#transforms.of(group),
      beforeTurn: async () => {
        const context = this.#contexts.take(group);
        return context === undefined ? undefined : { context };
      },
    };
  }

  changed({ session }: ProviderGroup): void {
    this.#overruled.changed(session);
  }

  left(provider: Provider): void {
    this.#gates.left(provider);
    this.#transforms.left(provider);
  }

  #updateHooks(provider: Provider, message: ToGatewayMessageMap['hooks.update']): void {
    const { onPreToolUse, transforms = {} } = message;
    authorizeHooks(provider.trust, { rules: onPreToolUse, transforms });
    compileRules(onPreToolUse ?? []);
    const changed = ({ session, rules, transforms: before }: Binding) => ({
      session,
      rules: onPreToolUse ?? rules,
      transforms: withTransforms(before, transforms),
    });
    this.#options.updates.apply(provider, message, {
      check: (binding) => this.#check(changed(binding)),
      apply: (binding) => {
        const { rules, transforms: all } = changed(binding);
        binding.rules = rules;
        binding.transforms = all;
      },
      degraded: degradedFor,
    });
  }

  #check(hooks: Pick<Binding, 'session' | 'rules' | 'transforms'>): void {
    checkTransforms(hooks.transforms);
    const [degraded] = this.#options.isStrict ? degradedFor(hooks) : [];
    if (degraded !== undefined) throw unauthorized(cannotDo(degraded));
  }

  #updateContext(provider: Provider, message: ToGatewayMessageMap['context.update']): void {
    authorizeContext(provider.trust);
    this.#options.updates.apply(provider, message, {
      apply: (binding) => {
        binding.context = message.context ?? '';
      },
    });
  }
}

/** What providers tell the model along with messages: `context` with every message, `startup_context` once. */
class Contexts {
  /** Providers whose startup context the model of a session has received. */
  readonly #received = new WeakMap<GatewaySession, Set<string>>();

  /** The context for the turn that begins. Equal texts of several instances count once. */
  take(group: ProviderGroup): string | undefined {
    const texts = new Set(present(group).flatMap((binding) => [this.#startup(binding), binding.context]));
    texts.delete('');
    return texts.size === 0 ? undefined : [...texts].join('\n\n');
  }

  /** A provider that comes back or binds again does not repeat its startup context. */
  #startup({ startupContext, provider, session }: Binding): string {
    const received = this.#received.get(session) ?? new Set();
    this.#received.set(session, received);
    if (startupContext === '' || received.has(provider.title)) return '';
    received.add(provider.title);
    return startupContext;
  }
}

/** Whether a fake gateway takes a message: its shape, its moment, and what the trust of its sender allows. */
import {
  type ConnectionState,
  GatewayErrorCode,
  grantOf,
  isLegalIn,
  type ProviderTransform,
  SESSION_EVENT_NAMES,
  type ToGatewayMessage,
  type TrustLevel,
} from '@atrium/protocol/provider';
import { checkToGateway, describeProblem } from '@atrium/protocol/validation';

export interface Refusal {
  readonly code: GatewayErrorCode;
  readonly message: string;
}

export type Judgement = { readonly message: ToGatewayMessage } | { readonly refusal: Refusal };

export function judge(raw: unknown, state: ConnectionState, trust: TrustLevel): Judgement {
  const checked = checkToGateway(raw);
  if (!checked.ok) return refused(GatewayErrorCode.InvalidJson, describeProblem(checked.problem));
  const message = checked.value;
  if (!isLegalIn(state, message.type))
    return refused(GatewayErrorCode.UnknownType, `${message.type} cannot be sent now (${state})`);
  const forbidden = forbiddenIn(message, trust);
  return forbidden === undefined
    ? { message }
    : refused(GatewayErrorCode.Unauthorized, `trust level ${trust} does not allow ${forbidden}`);
}

function refused(code: GatewayErrorCode, message: string): Judgement {
  return { refusal: { code, message } };
}

/** The first part of a message that its sender may not send. */
function forbiddenIn(message: ToGatewayMessage, trust: TrustLevel): string | undefined {
  if (message.type === 'context.update') return grantOf('setContext', trust) ? undefined : 'context';
  if (message.type === 'hooks.update') return forbiddenHooks(message.onPreToolUse, message.transforms, trust);
  if (message.type !== 'hello') return undefined;
  const { hooks = {}, context, startup_context, session, subscribe = [] } = message;
  if ((context ?? startup_context) !== undefined && !grantOf('setContext', trust)) return 'context';
  if (session === 'all' && grantOf('bind', trust) !== 'any') return 'binding to all sessions';
  const events: readonly string[] = grantOf('subscribe', trust);
  const known: readonly string[] = SESSION_EVENT_NAMES;
  const event = subscribe.find((name) => known.includes(name) && !events.includes(name));
  return event === undefined ? forbiddenHooks(hooks.onPreToolUse, hooks.transforms, trust) : `the event ${event}`;
}

function forbiddenHooks(
  rules: readonly unknown[] = [],
  transforms: Readonly<Record<string, ProviderTransform | null>> = {},
  trust: TrustLevel,
): string | undefined {
  if (rules.length > 0 && !grantOf('registerHookRules', trust)) return 'hook rules';
  const actions = Object.values(transforms).flatMap((transform) => transform?.action ?? []);
  const isGranted = (action: (typeof actions)[number]) =>
    action === 'callback' ? grantOf('callbackTransforms', trust) : grantOf('staticTransforms', trust).includes(action);
  const forbidden = actions.find((action) => !isGranted(action));
  return forbidden === undefined ? undefined : `the transform "${forbidden}"`;
}

/** One connection of a provider to a fake gateway: authentication, binding, and the checks of each message. */
import { newId, type Transport } from '@atrium/link';
import {
  type ConnectionState,
  FATAL_GATEWAY_ERRORS,
  GatewayErrorCode,
  grantOf,
  isLegalIn,
  PROVIDER_PROTOCOL_VERSION,
  type ProviderHelloMessage,
  type ProviderSessionEntry,
  type ProviderTransform,
  SESSION_EVENT_NAMES,
  type ToGatewayMessage,
  type ToProviderMessage,
  type TrustLevel,
} from '@atrium/protocol/provider';
import { checkToGateway, checkToProvider, describeProblem } from '@atrium/protocol/validation';
import type { FakeGatewayOptions } from './fake-gateway.js';
import { FakeSession } from './fake-session.js';

interface FakeConnectionOptions {
  readonly options: FakeGatewayOptions;
  /** Tokens that pairings have given out. */
  readonly issued: Set<string>;
  sessions(): readonly ProviderSessionEntry[];
  /** Whether the test wants this message refused, and how. */
  refusalOf(message: ToGatewayMessage): Refusal | undefined;
  heard(message: ToGatewayMessage): void;
  /** The message was not refused; its effect is in force. */
  took(message: ToGatewayMessage, connection: FakeConnection): void;
  ended(connection: FakeConnection): void;
}

export class FakeConnection {
  session: FakeSession | undefined;
  #state: ConnectionState;
  #trust: TrustLevel;
  /** The token of a pairing, on this or an earlier connection. */
  #paired: string | undefined;
  #hasExpired = false;
  readonly #transport: Transport;
  readonly #options: FakeConnectionOptions;

  constructor(transport: Transport, options: FakeConnectionOptions) {
    const { token, pairingCode } = options.options;
    const isOpen = token === undefined && pairingCode === undefined;
    this.#transport = transport;
    this.#options = options;
    this.#trust = isOpen ? 'internal' : 'external';
    this.#state = isOpen ? 'AwaitHello' : 'AwaitAuth';
    if (isOpen) this.send({ type: 'sessions', active: [...options.sessions()] });
    transport.onClose(() => this.#end());
    transport.onMessage((text) => this.#receive(text));
  }

  get state(): ConnectionState {
    return this.#state;
  }

  /** Throws when it is not a message that a gateway may send. */
  send(message: ToProviderMessage): void {
    const checked = checkToProvider(message);
    if (!checked.ok) throw new TypeError(`${message.type}: ${describeProblem(checked.problem)}`);
    this.#transport.send(JSON.stringify(message));
  }

  close(): void {
    this.#transport.close();
    this.#end();
  }

  sessionEnded(): void {
    this.session = undefined;
    if (this.#state === 'Bound') this.#state = 'Unbound';
  }

  /** The bound session is about to end, and with it the token of a paired provider. */
  expire(): void {
    if (this.#paired === undefined) return;
    this.#options.issued.delete(this.#paired);
    this.#hasExpired = true;
  }

  #end(): void {
    if (this.#state === 'Disconnected') return;
    this.#state = 'Disconnected';
    this.#options.ended(this);
  }

  #receive(text: string): void {
    const raw: unknown = JSON.parse(text);
    const judgement = checkMessage(raw, this.#state, this.#trust);
    if ('refusal' in judgement) return this.#refuse(raw, judgement.refusal);
    const { message } = judgement;
    this.#options.heard(message);
    const refusal = this.#options.refusalOf(message) ?? this.#act(message);
    if (refusal) this.#refuse(message, refusal);
    else this.#options.took(message, this);
  }

  #refuse(raw: unknown, { code, message }: Refusal): void {
    const { type, requestId } = raw as { type?: string; requestId?: string };
    this.send({
      type: 'error',
      code,
      message,
      ...(type !== undefined && { replyTo: type }),
      ...(requestId !== undefined && { requestId }),
    });
    if (FATAL_GATEWAY_ERRORS.has(code)) this.close();
  }

  #act(message: ToGatewayMessage): Refusal | undefined {
    if (message.type === 'auth') return this.#authenticate(message.token, message.mode);
    if (message.type === 'auth.confirm') return this.#confirm(message.code);
    if (message.type === 'hello') return this.#bind(message);
    if (message.type === 'goodbye') this.close();
    else this.session?.take(message);
    return undefined;
  }

  #authenticate(token: string | undefined, mode: string | undefined): Refusal | undefined {
    const { options, issued } = this.#options;
    if (token !== undefined && token === options.token) return this.#letIn('project');
    if (token !== undefined && issued.has(token)) {
      this.#paired = token;
      return this.#letIn('external');
    }
    if (mode === undefined || options.pairingCode === undefined)
      return { code: GatewayErrorCode.AuthFailed, message: 'the token is not valid' };
    this.#state = 'AwaitPairing';
    this.send({ type: 'auth.pairing', prompt: 'Type the code.' });
    return undefined;
  }

  #confirm(code: string): Refusal | undefined {
    if (code !== this.#options.options.pairingCode)
      return { code: GatewayErrorCode.AuthFailed, message: 'the code is not valid' };
    const token = `ext-tok-${newId()}`;
    this.#options.issued.add(token);
    this.#paired = token;
    return this.#letIn('external', token);
  }

  /** A bound provider may show its token again and gets the list of sessions in return. */
  #letIn(trust: TrustLevel, token?: string): undefined {
    this.#trust = trust;
    if (this.#state !== 'Bound') this.#state = 'AwaitHello';
    this.send({ type: 'sessions', active: [...this.#options.sessions()], ...(token !== undefined && { token }) });
  }

  #bind(hello: ProviderHelloMessage): Refusal | undefined {
    const { options, sessions } = this.#options;
    const { namesSession = true, saysStarted = true } = options.habits ?? {};
    const wanted = hello.session ?? sessions()[0]?.id;
    const isEverywhere = wanted === 'all';
    const sessionId = isEverywhere ? (sessions()[0]?.id ?? 'all') : sessions().find(({ id }) => id === wanted)?.id;
    if (sessionId === undefined || this.#hasExpired)
      return { code: GatewayErrorCode.InvalidSession, message: `no session ${wanted}` };
    this.#state = 'Bound';
    this.session = new FakeSession(hello, sessionId, (message) => this.send(message));
    this.send({
      type: 'hello.ack',
      protocolVersion: PROVIDER_PROTOCOL_VERSION,
      providerId: `p-${newId()}`,
      reconnectToken: `tok-${newId()}`,
      ...(namesSession && !isEverywhere && { sessionId }),
    });
    if (saysStarted) this.send({ type: 'session.lifecycle', sessionId, state: 'started' });
    return undefined;
  }
}

export interface Refusal {
  readonly code: GatewayErrorCode;
  readonly message: string;
}

type CheckedMessage = { readonly message: ToGatewayMessage } | { readonly refusal: Refusal };

/** Checks the shape of a message, whether its sender may send it now, and whether its trust level allows it. */
function checkMessage(raw: unknown, state: ConnectionState, trust: TrustLevel): CheckedMessage {
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

function refused(code: GatewayErrorCode, message: string): CheckedMessage {
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

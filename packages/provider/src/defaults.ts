/** Reads messages of a gateway, and fills in the defaults for members that older gateways leave out. */
import { GatewayErrorCode, SHUTDOWN_DEADLINE_MS, type ToProviderMessage } from '@atrium/protocol/provider';
import { type Checked, checkToProvider } from '@atrium/protocol/validation';

type Raw = Readonly<Record<string, unknown>>;

/** Stands for a missing reconnect token. */
export const NO_RECONNECT_TOKEN = '';

const FILLED: ReadonlyMap<string, (raw: Raw) => Raw> = new Map(
  Object.entries<(raw: Raw) => Raw>({
    'hello.ack': (raw) => ({ reconnectToken: NO_RECONNECT_TOKEN, providerId: '', protocolVersion: 2, ...raw }),
    'tool.call': (raw) => ({ sessionId: '', args: {}, ...raw }),
    'tool.cancel': (raw) => ({ sessionId: '', reason: 'cancelled', ...raw }),
    'session.lifecycle': (raw) => ({ sessionId: '', deadline: SHUTDOWN_DEADLINE_MS, ...raw }),
    sessions: named,
    'sessions.updated': named,
    error: (raw) => {
      const known: readonly unknown[] = Object.values(GatewayErrorCode);
      const message = typeof raw.message === 'string' ? raw.message : 'no reason given';
      if (known.includes(raw.code)) return { ...raw, message };
      return { ...raw, code: GatewayErrorCode.UnknownType, message: `${String(raw.code)}: ${message}` };
    },
  }),
);

function named(raw: Raw): Raw {
  const active = Array.isArray(raw.active) ? raw.active : [];
  return { ...raw, active: active.map((entry: unknown) => ({ label: '', ...(entry as object) })) };
}

/** One message, or its problem. Callers ignore invalid messages: a newer gateway may send types unknown here. */
export function readMessage(text: string): Checked<ToProviderMessage> {
  const raw = parsed(text);
  const fill = typeof raw.type === 'string' ? FILLED.get(raw.type) : undefined;
  return checkToProvider(fill ? fill(raw) : raw);
}

function parsed(text: string): Raw {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Raw) : {};
  } catch {
    return {};
  }
}

/** Which dialect a client speaks. Nothing outside this folder knows that there are versions. */
import { ErrorCode, negotiate, PROTOCOL_VERSION } from '@atrium/protocol';
import {
  type Dialect,
  type DialectConnection,
  isV1Initialize,
  v0_2,
  v0_3,
  v1,
  v1Slash,
} from '@atrium/protocol/dialects';
import { RequestError } from '../../contracts/request-error.js';

export {
  type ActionFrame,
  type ChannelMemory,
  type Dialect,
  type DialectConnection,
  type HostView,
  type InboundNotification,
  NO_MEMORY,
  type OriginalAction,
  type Step as DialectStep,
} from '@atrium/protocol/dialects';

const DIALECTS: readonly Dialect[] = [v0_3, v0_2, v1];

/** The dialect to speak until a client has said what it speaks. */
export const initialDialect = v0_3;

/** The dialect that a client's `initialize` asks for. Throws the error to answer with when there is none. */
export function dialectFor(params: Readonly<Record<string, unknown>>): Dialect {
  if (isV1Initialize(params)) return v1;
  if (!Array.isArray(params.protocolVersions)) {
    const message = '/protocolVersions must be the list of versions you speak, as in ["0.3.0", "0.2.0"]';
    throw new RequestError(ErrorCode.InvalidParams, message);
  }
  const negotiation = negotiate(params.protocolVersions);
  if (negotiation.outcome === 'agreed') return dialectNamed(negotiation.version) ?? v0_3;
  if (negotiation.outcome === 'malformed') {
    const entry = JSON.stringify(negotiation.entry);
    throw new RequestError(ErrorCode.InvalidParams, `${entry} is not a version: write three numbers, as in "0.3.0"`);
  }
  throw unsupported(negotiation.supportedVersions, params.protocolVersions);
}

function unsupported(supportedVersions: readonly string[], offered: readonly unknown[]): RequestError {
  const versions = supportedVersions.join(', ');
  const message = offered.includes('0.3.0')
    ? 'no common protocol version: on this host 0.3.0 is 0.2.0 plus systemMessageTransform, and not the 0.3.0 of a ' +
      `client that also speaks later versions; offer ${versions}, too`
    : `no common protocol version: this host speaks ${versions}; offer one of them`;
  return new RequestError(ErrorCode.UnsupportedProtocolVersion, message, { supportedVersions });
}

/** The dialect that a returning client spoke before. */
export function dialectNamed(version: string): Dialect | undefined {
  return DIALECTS.find((dialect) => dialect.version === version);
}

/** The dialect of a connection, once it has shown which generation of its wire it speaks. */
export function dialectOf(dialect: Dialect, { rootUri }: DialectConnection): Dialect {
  return dialect === v1 && rootUri === 'agenthost:/root' ? v1Slash : dialect;
}

/** The wire that cannot be translated without the states around each action, whichever generation speaks it. */
export const TRANSLATED = v1;

export function isTranslated(dialect: Dialect): boolean {
  return dialect.version === v1.version;
}

/** Whether this wire says states as they are, so that text which is kept can be sent as it is. */
export function isNative(dialect: Dialect): boolean {
  return !isTranslated(dialect);
}

/** The value of `protocolVersion` in the answer to `initialize`; a dialect may still translate it. */
export function versionName(dialect: Dialect): string {
  return isNative(dialect) ? dialect.version : PROTOCOL_VERSION;
}

/** Whether a client of this dialect waits for its echoes in order, so that one that is held must be echoed at once. */
export function echoesEarly(dialect: Dialect): boolean {
  return isTranslated(dialect);
}

/** The dialects that remember something of a session even while nobody speaks them. */
export const rememberingDialects: readonly Dialect[] = [v1];

/** Whether a client of this dialect can be asked questions. */
export function canAnswer(dialect: Dialect): boolean {
  return !isTranslated(dialect);
}

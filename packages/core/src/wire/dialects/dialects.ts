/** Which dialect a client speaks. The rest of the host asks a dialect for its traits, and knows no versions. */
import { ErrorCode, negotiate } from '@atrium/protocol';
import { type Dialect, dialectNamed, dialectOfferedIn, NATIVE_DIALECT } from '@atrium/protocol/dialects';
import { RequestError } from '../../contracts/request-error.js';

export {
  type ActionFrame,
  type ChannelMemory,
  DIALECTS,
  type Dialect,
  type DialectConnection,
  dialectNamed,
  type HostView,
  type InboundNotification,
  NO_MEMORY,
  type OriginalAction,
  type Step as DialectStep,
} from '@atrium/protocol/dialects';

/** The dialect to speak until a client has said what it speaks. */
export const initialDialect = NATIVE_DIALECT;

/** The dialect that a client's `initialize` asks for. Throws the error to answer with when there is none. */
export function dialectFor(params: Readonly<Record<string, unknown>>): Dialect {
  const offered = dialectOfferedIn(params);
  if (offered) return offered;
  if (!Array.isArray(params.protocolVersions)) {
    const message = '/protocolVersions must be the list of versions you speak, as in ["0.3.0", "0.2.0"]';
    throw new RequestError(ErrorCode.InvalidParams, message);
  }
  const negotiation = negotiate(params.protocolVersions);
  if (negotiation.outcome === 'agreed') return dialectNamed(negotiation.version) ?? initialDialect;
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

/**
 * Finds the dialect that a client speaks. The rest of the host asks the dialect for its traits, and knows no versions.
 */
import { ErrorCode } from '@atrium/protocol/ahp-1';
import {
  agreeOnVersion,
  type Dialect,
  dialectNamed,
  dialectOfferedIn,
  NATIVE_DIALECT,
} from '@atrium/protocol/dialects';
import { RequestError } from '../../contracts/request-error.js';

export {
  type ActionFrame,
  type ChannelMemory,
  DIALECTS,
  type Dialect,
  type DialectConnection,
  dialectNamed,
  type InboundNotification,
  type ModelStep as DialectStep,
  type ModelView as DialectView,
  NO_MEMORY,
  type OriginalAction,
  pluginsOnly,
  type SnapshotParts,
  type StepGroup,
} from '@atrium/protocol/dialects';

/** The dialect of a connection before its client names a version. */
export const initialDialect = NATIVE_DIALECT;

/** The result of negotiation: the version as it is answered and stored, and the dialect that speaks it. */
export interface Agreed {
  readonly version: string;
  readonly dialect: Dialect;
}

/**
 * Chooses from what a client's `initialize` offers. Throws the error to answer with when there is nothing in common.
 */
export function agreedOn(params: Readonly<Record<string, unknown>>): Agreed {
  const offered = dialectOfferedIn(params);
  if (offered) return { version: offered.traits.version, dialect: offered };
  if (!Array.isArray(params.protocolVersions)) {
    const message = '/protocolVersions must be the list of versions you speak, as in ["1.0.0", "0.9.0"]';
    throw new RequestError(ErrorCode.InvalidParams, message);
  }
  const agreement = agreeOnVersion(params.protocolVersions);
  if (agreement.outcome === 'agreed') {
    return { version: agreement.version, dialect: dialectNamed(agreement.version) ?? initialDialect };
  }
  if (agreement.outcome === 'malformed') {
    const entry = JSON.stringify(agreement.entry);
    throw new RequestError(ErrorCode.InvalidParams, `${entry} is not a version: write three numbers, as in "1.0.0"`);
  }
  throw unsupported(agreement.supportedVersions, params.protocolVersions);
}

function unsupported(supportedVersions: readonly string[], offered: readonly unknown[]): RequestError {
  const versions = supportedVersions.join(', ');
  const message = offered.includes('0.3.0')
    ? 'no common protocol version: on this host 0.3.0 is 0.2.0 plus systemMessageTransform, and not the 0.3.0 of a ' +
      `client that also speaks later versions; offer ${versions}, too`
    : `no common protocol version: this host speaks ${versions}; offer one of them`;
  return new RequestError(ErrorCode.UnsupportedProtocolVersion, message, { supportedVersions });
}

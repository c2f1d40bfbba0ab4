/** A host without terminals: nobody can open one, and whoever tries is told why. */
import { ErrorCode } from '@atrium/protocol';
import type { HostCore } from '../../core/contracts/host-core.js';
import { RequestError } from '../../core/contracts/request-error.js';
import type { Service } from '../../core/contracts/service.js';

export function withoutTerminals(core: HostCore): Service {
  const refuse = (): never => {
    throw new RequestError(ErrorCode.PermissionDenied, 'terminals are turned off on this host');
  };
  return {
    scheme: 'ahp-terminal:',
    requests: { createTerminal: refuse, disposeTerminal: refuse },
    // Those of an earlier run of the host are gone.
    start: async () => core.root.setTerminals([]),
  };
}

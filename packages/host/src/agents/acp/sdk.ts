/** The package that speaks the Agent Client Protocol. It is optional, so it is loaded when an agent first needs it. */
import { AgentError } from '../../core/contracts/agent.js';

export type AcpSdk = typeof import('@agentclientprotocol/sdk');

const PACKAGE = '@agentclientprotocol/sdk';

export async function loadSdk(
  displayName: string,
  load: () => Promise<AcpSdk> = () => import('@agentclientprotocol/sdk'),
): Promise<AcpSdk> {
  try {
    return await load();
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND';
    const why = isMissing ? 'which is not installed' : `which cannot be loaded (${String(error)})`;
    throw new AgentError(
      'agent-missing',
      `${displayName} needs the package ${PACKAGE}, ${why}: npm install ${PACKAGE}`,
    );
  }
}

/** Which folders may start programs: those that were remembered, and those that were named now. */
import path from 'node:path';
import { TrustedFolders } from '@atrium/host';

export function trustedFolders(dataDir: string, named: readonly string[] = []): TrustedFolders {
  return new TrustedFolders(path.join(dataDir, 'trusted-folders.json'), named);
}

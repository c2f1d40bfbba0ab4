/** Which folders may start programs: those that were remembered, and those that were named now. */
import path from 'node:path';
import { askedTogether, declaredPrograms, type Logger, type NamedFolder, TrustedFolders } from '@atrium/host';

export function trustedFolders(dataDir: string, named: readonly NamedFolder[] = []): TrustedFolders {
  return new TrustedFolders(path.join(dataDir, 'trusted-folders.json'), named);
}

/**
 * `--trust`: the folder may start what it declares now, and that is told. What it declares later is asked about. A
 * folder whose file is broken may start nothing; the reader of the file reports what is wrong with it.
 */
export async function namedFolders(folders: readonly string[], logger: Logger): Promise<readonly NamedFolder[]> {
  return Promise.all(
    folders.map(async (named) => {
      const folder = path.resolve(named);
      const declared = await declaredPrograms(folder, logger).catch(() => []);
      const programs = askedTogether(declared);
      for (const { line } of programs) logger.log('info', 'a trusted folder may start', { folder, program: line });
      const left = declared.length - programs.length;
      if (left > 0)
        logger.log('warn', 'programs of a trusted folder do not fit into one list: its sessions ask', { folder, left });
      return { folder, programs: programs.map(({ digest }) => digest) };
    }),
  );
}

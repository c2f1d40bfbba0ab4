/** The folders that may start programs: remembered ones, and those that the command line names. */
import path from 'node:path';
import {
  askedTogether,
  type DeclaredPrograms,
  declaredPrograms,
  type Logger,
  type NamedFolder,
  TrustedFolders,
} from '@atrium/host';

const NOTHING: DeclaredPrograms = { programs: [], providersNotStarted: 0 };

export function trustedFolders(dataDir: string, named: readonly NamedFolder[] = []): TrustedFolders {
  return new TrustedFolders(path.join(dataDir, 'trusted-folders.json'), named);
}

/**
 * `--trust`: the folder may start the programs that it declares now, and the host logs them. It asks about later ones.
 * A folder
 * with a broken file may start nothing; the reader of the file reports the mistake.
 */
export async function namedFolders(folders: readonly string[], logger: Logger): Promise<readonly NamedFolder[]> {
  return Promise.all(
    folders.map(async (named) => {
      const folder = path.resolve(named);
      const declared = await declaredPrograms(folder, logger).catch(() => NOTHING);
      const programs = askedTogether(declared.programs);
      for (const { line } of programs) logger.log('info', 'a trusted folder may start', { folder, program: line });
      const left = declared.programs.length - programs.length;
      if (left > 0)
        logger.log('warn', 'programs of a trusted folder do not fit into one list: its sessions ask', { folder, left });
      if (declared.providersNotStarted > 0)
        logger.log('warn', 'a trusted folder lists more providers than the host starts: list fewer', {
          folder,
          left: declared.providersNotStarted,
        });
      return { folder, programs: programs.map(({ digest }) => digest) };
    }),
  );
}

/** What a person sees when the host has started. Says where the token is, never what it is. */

export interface StartScreen {
  readonly url: string;
  readonly tokenFile: string | undefined;
  readonly dataDir: string;
  readonly agents: readonly string[];
}

export function startScreen({ url, tokenFile, dataDir, agents }: StartScreen): string {
  const rows = [
    ['Connect', url],
    ['Token', tokenFile ?? 'none: everybody on this machine may connect'],
    ['Data', dataDir],
    ['Agents', agents.join(', ')],
  ];
  const lines = rows.map(([name = '', value = '']) => `  ${name.padEnd(8)} ${value}`);
  return `Atrium is running.\n\n${lines.join('\n')}\n\nStop it with Ctrl+C.\n`;
}

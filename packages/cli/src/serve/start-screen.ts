/** What a person sees when the host has started. Says where the token is, never what it is. */

export interface StartScreen {
  readonly url: string;
  readonly tokenFile: string | undefined;
  readonly gatewayUrl: string | undefined;
  readonly dataDir: string;
  readonly agents: readonly string[];
}

export function startScreen({ url, tokenFile, gatewayUrl, dataDir, agents }: StartScreen): string {
  const rows = [
    ['Connect', url],
    ['Token', tokenFile ?? 'none: everybody on this machine may connect'],
    ['Providers', gatewayUrl ?? 'none can connect'],
    ['Data', dataDir],
    ['Agents', agents.join(', ')],
  ];
  const lines = rows.map(([name = '', value = '']) => `  ${name.padEnd(9)} ${value}`);
  return `Atrium is running.\n\n${lines.join('\n')}\n\nStop it with Ctrl+C.\n`;
}

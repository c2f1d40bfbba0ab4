/** The part of the package `ws` that the loopback gateway needs: a server of WebSockets. */
declare module 'ws' {
  export const WebSocketServer: new (options: {
    host: string;
    port: number;
  }) => {
    on(event: 'connection', listener: (socket: import('@atrium/link').SocketLike) => void): void;
    once(event: 'listening', listener: () => void): void;
    once(event: 'error', listener: (error: Error) => void): void;
    address(): { port: number };
    close(done: () => void): void;
    readonly clients: Iterable<{ terminate(): void }>;
  };
}

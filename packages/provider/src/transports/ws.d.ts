/** The part of the package `ws` that is needed: a WebSocket like the browser's, and a server of them for tests. */
declare module 'ws' {
  export const WebSocket: new (url: string) => import('./websocket.js').SocketLike;
  export const WebSocketServer: new (options: {
    host: string;
    port: number;
  }) => {
    on(event: 'connection', listener: (socket: import('./websocket.js').SocketLike) => void): void;
    once(event: 'listening', listener: () => void): void;
    once(event: 'error', listener: (error: Error) => void): void;
    address(): { port: number };
    close(done: () => void): void;
    readonly clients: Iterable<{ terminate(): void }>;
  };
}

/** The least that a WebSocket server can be. */
import { WebSocketServer } from 'ws';

const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
server.on('listening', () => console.log(`READY:${server.address().port}`));
process.on('SIGTERM', () => process.exit(0));

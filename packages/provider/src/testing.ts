/** For authors of providers: a gateway for their tests. */

export type { Loopback } from './testing/fake-gateway.js';
export { type FakeGateway, type FakeGatewayOptions, fakeGateway, type GatewayHabits } from './testing/fake-gateway.js';
export type { FakeCall } from './testing/fake-session.js';

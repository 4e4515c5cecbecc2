import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createTestDatabase } from './database.ts';
import { startSharedDns } from './hostile-dns.ts';
import { ALLOWED_LOOPBACK, HOSTILE_STARTER_VARIABLE, type HostileServer } from './hostile-server.ts';
import { startSharedRegistry } from './hostile-registry.ts';
import { startServer } from './server.ts';

interface AttackedServer {
  shared: HostileServer;
  stop(): Promise<void>;
}

/**
 * One server for all attacks: an attack that leaves something behind meets those that come after
 * it. It is started when the first of them asks for it: the other tests come before, and a server
 * that waits for them takes processor time from them.
 */
export async function setup(): Promise<() => Promise<void>> {
  // Nothing of an attack is to reach a registry outside, and names lead where the attack says.
  const [registry, dns] = await Promise.all([startSharedRegistry(), startSharedDns()]);
  let started: Promise<AttackedServer> | undefined;
  const starter = createServer((_, response) => {
    started ??= startAttackedServer(registry.url, dns.address);
    void started
      .then(({ shared }) => answer(response, 200, shared))
      .catch((error) => answer(response, 500, `${error}`));
  });
  await new Promise<void>((resolve) => starter.listen(0, '127.0.0.1', resolve));
  process.env[HOSTILE_STARTER_VARIABLE] = `http://127.0.0.1:${(starter.address() as AddressInfo).port}`;
  return async () => {
    starter.closeAllConnections();
    await new Promise((resolve) => starter.close(resolve));
    // A failed start was already reported to the test that asked.
    await (await started?.catch(() => undefined))?.stop();
    await Promise.all([registry.stop(), dns.stop()]);
  };
}

function answer(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

async function startAttackedServer(registryUrl: string, dnsServer: string): Promise<AttackedServer> {
  const database = await createTestDatabase();
  const env = {
    HEADWATER_LOG_LEVEL: 'warn',
    HEADWATER_NPM_REGISTRY: registryUrl,
    HEADWATER_DNS_SERVERS: dnsServer,
    HEADWATER_EGRESS_ALLOW: ALLOWED_LOOPBACK,
  };
  const server = await startServer({ databaseUrl: database.url, env, ownSession: true }).catch(
    async (error: unknown) => {
      await database.drop();
      throw error;
    },
  );
  return {
    shared: { url: server.url, pid: server.process.pid, databaseUrl: database.url, dnsServer },
    async stop() {
      const ended = await server.process.end('SIGTERM');
      if (ended.code !== 0) {
        console.error(
          `The attacked server did not stop in order (${JSON.stringify(ended)}):\n${server.process.output()}`,
        );
        process.exitCode = 1;
      }
      // Each was a 500, which no attack is to be answered.
      const failures = server.process.output().match(/^.*request failed unexpectedly.*$/gm) ?? [];
      if (failures.length > 0) {
        console.error(`Requests to the attacked server failed:\n${failures.join('\n')}`);
        process.exitCode = 1;
      }
      await database.drop();
    },
  };
}

// builder: Packages that need each other, themselves, and each other as peers.
import { expect, it } from 'vitest';
import { supplyChain } from '../../support/hostile-supply-chain.ts';

const chain = supplyChain();

it('are placed once each, and evaluated as Node does', async () => {
  await chain.publish(
    {
      name: 'ping',
      version: '1.0.0',
      manifest: { dependencies: { pong: '*', ping: '*' }, peerDependencies: { pong: '*', peer: '*' } },
      files: { 'index.js': "exports.pong = require('pong').name; exports.self = require('ping') === exports;" },
    },
    {
      name: 'pong',
      version: '1.0.0',
      manifest: { dependencies: { ping: '*' }, peerDependencies: { ping: '*' } },
      files: { 'index.js': "exports.name = 'pong'; require('ping');" },
    },
    { name: 'peer', version: '1.0.0', manifest: { peerDependencies: { ping: '*', peer: '*' } } },
  );
  expect((await chain.importing('ping')).events).toEqual([{ found: { pong: 'pong', self: true } }]);
});

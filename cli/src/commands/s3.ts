import { type CommandSpec, SERVER_EXITS } from '../command.ts';
import { usageError } from '../cli-error.ts';
import { confirmDeletion, YES } from './delete.ts';

interface S3Settings {
  endpoint: string | null;
  region: string;
  access_key_id: string;
}

const JSON_SHAPE = 'the settings, without the secret';

const show: CommandSpec = {
  path: 's3 show',
  summary: 'The S3 server that `$.send.s3` puts objects on',
  examples: [{ does: 'Which one is it?', command: 'hw s3 show' }],
  json: JSON_SHAPE,
  exits: SERVER_EXITS,
  async run({ api, output }) {
    const settings = await (await api()).get<S3Settings>('/sends/s3');
    const text = output.fields([
      ['endpoint', settings.endpoint],
      ['region', settings.region],
      ['access key', settings.access_key_id],
    ]);
    return { json: settings, text };
  },
};

const set: CommandSpec = {
  path: 's3 set',
  summary: 'Set the S3 server that `$.send.s3` puts objects on',
  details: 'The secret of the access key is asked for at a terminal, else read from standard input.',
  options: [
    { name: 'region', value: 'name', summary: 'Its region, such as `eu-central-1`.' },
    { name: 'access-key-id', value: 'id', summary: 'The id of the access key.' },
    { name: 'endpoint', value: 'url', summary: 'A server other than Amazon’s.' },
  ],
  examples: [{ does: 'From a file', command: 'hw s3 set --region eu-central-1 --access-key-id AKIA4711 < secret.txt' }],
  json: JSON_SHAPE,
  exits: SERVER_EXITS,
  async run({ api: connect, input, ask, readStdin }) {
    const [region, accessKeyId, endpoint] = [input.text('region'), input.text('access-key-id'), input.text('endpoint')];
    if (region === undefined || accessKeyId === undefined) throw usageError('Give --region and --access-key-id');
    const secret = ask.possible ? await ask.secret('Secret of the access key') : (await readStdin()).trim();
    if (secret === '') throw usageError('Standard input holds no secret of the access key');
    const body = {
      region,
      access_key_id: accessKeyId,
      secret_access_key: secret,
      ...(endpoint === undefined ? {} : { endpoint }),
    };
    const made = await (await connect()).send<S3Settings>('PUT', '/sends/s3', body);
    return { json: made, text: 'The S3 server is set.', quiet: '' };
  },
};

const remove: CommandSpec = {
  path: 's3 delete',
  aliases: ['rm'],
  summary: 'Forget the S3 server',
  options: [YES],
  examples: [{ does: 'Without a question', command: 'hw s3 delete -y' }],
  json: '{ deleted }',
  exits: SERVER_EXITS,
  async run(context) {
    const api = await context.api();
    await confirmDeletion(context, 'Forget the S3 server?');
    await api.send('DELETE', '/sends/s3');
    return { json: { deleted: true }, text: 'The S3 server is forgotten.', quiet: '' };
  },
};

export const s3Commands: readonly CommandSpec[] = [show, set, remove];

-- How a webhook's requests are made, beyond headers, schedule and timeout. A node of the previous version makes them as before.
alter table webhooks
  -- What is no secret: { method, caCertificate, clientCertificate }, as far as it is not as by default.
  add column request_options jsonb,
  -- Sealed JSON text of what a request proves itself with: user and password, a token, an OAuth client.
  add column request_auth text,
  -- The sealed PEM text of the client certificate's key.
  add column client_key text;

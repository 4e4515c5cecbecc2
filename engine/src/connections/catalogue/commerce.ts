import type { AppDefinition } from '../../contract/index.ts';

const shop = { name: 'shop_id', label: 'Shop', description: '`acme` of `acme.myshopify.com`', secret: false };

export const commerceApps: readonly AppDefinition[] = [
  {
    slug: 'stripe',
    name: 'Stripe',
    description: 'Payments, customers and subscriptions.',
    docsUrl: 'https://docs.stripe.com/keys',
    authType: 'keys',
    fields: [{ name: 'api_key', label: 'Secret or restricted key' }],
    test: { url: 'https://api.stripe.com/v1/balance', auth: { type: 'bearer', token: '{{api_key}}' } },
  },
  {
    slug: 'shopify',
    name: 'Shopify',
    docsUrl: 'https://shopify.dev/docs/apps/build/authentication-authorization/access-tokens/authorization-code-grant',
    authType: 'oauth2',
    fields: [shop],
    oauth: {
      authorizeUrl: 'https://{{shop_id}}.myshopify.com/admin/oauth/authorize',
      tokenUrl: 'https://{{shop_id}}.myshopify.com/admin/oauth/access_token',
      scopes: ['read_products', 'write_products', 'read_orders', 'read_customers'],
      scopeSeparator: ',',
      pkce: false,
      tokenAuth: 'body',
    },
  },
  {
    slug: 'shopify_developer_app',
    name: 'Shopify (custom app)',
    docsUrl:
      'https://shopify.dev/docs/apps/build/authentication-authorization/access-tokens/generate-app-access-tokens-admin',
    authType: 'keys',
    fields: [shop, { name: 'access_token', label: 'Admin API access token' }],
    test: {
      url: 'https://{{shop_id}}.myshopify.com/admin/api/2026-07/shop.json',
      auth: { type: 'header', name: 'x-shopify-access-token', value: '{{access_token}}' },
    },
  },
  {
    slug: 'woocommerce',
    name: 'WooCommerce',
    docsUrl: 'https://woocommerce.github.io/woocommerce-rest-api-docs/#authentication',
    authType: 'keys',
    fields: [
      { name: 'url', label: 'URL of the shop', secret: false },
      { name: 'key', label: 'Consumer key' },
      { name: 'secret', label: 'Consumer secret' },
    ],
  },
];

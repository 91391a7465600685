export type paths = Record<string, never>;
export interface webhooks {
    "payment_intent.created": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A payment intent was created
         * @description Sent when an intent comes into being. `data.intent` is the intent at that moment and is never rendered anew.
         */
        post: operations["onPaymentIntentCreated"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "payment_intent.expired": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A payment intent expired before completion
         * @description Sent when an open intent passes its deadline. Money that arrives later is told by `payment.completed` with `late` true.
         */
        post: operations["onPaymentIntentExpired"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "payment.completed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A payment reached terminal success
         * @description Sent once for each payment that counts towards an intent. `data.attempt` is the payment, `data.intent` the intent right after it.
         */
        post: operations["onPaymentCompleted"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "payment.failed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A payment attempt failed
         * @description Sent when a provider declines an attempt, or the payer abandons it. `data.attempt` is the attempt, `data.intent` the intent right after it: `failed` when
         *     its one channel was a card or pay-later, or at a point of sale, else still `open` for another try.
         */
        post: operations["onPaymentFailed"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "webhook.test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A test delivery was asked for
         * @description Sent by `testWebhookSubscription` and by nothing else; it is no event of a payment, and nothing subscribes to it.
         */
        post: operations["onWebhookTest"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface components {
    schemas: {
        /**
         * @description Code of a payment channel; an opaque value of a growing list.
         * @example qris
         */
        ChannelCode: string;
        /**
         * @description Your own data, string to string, as you sent it.
         * @example {
         *       "order_id": "1042"
         *     }
         */
        Metadata: {
            [key: string]: string;
        };
        /** @description Who pays, as given at creation; null when nothing was given. */
        IntentCustomer: {
            /**
             * @description Full name.
             * @example Pelanggan Contoh
             */
            name: string | null;
            /**
             * @description E-mail address.
             * @example pelanggan@shop.example
             */
            email: string | null;
            /**
             * @description Phone number in E.164 form.
             * @example +628120000000
             */
            phone: string | null;
        } | null;
        /**
         * @description One payment to be taken. `status` is `open`, `paid`, `failed`, `expired`, `cancelled` or `reversed`; the list may grow. The channel-typed members
         *     (`qr_string` to `challenge_url`) appear only for the channel that produces them, once its attempt exists.
         */
        PaymentIntent: {
            /**
             * Format: uuid
             * @description Identifier of the intent.
             * @example 0192f3c4-8b21-7d4f-8e63-2a7c9b51f101
             */
            id: string;
            /**
             * @description Short public code; the hosted page is `/pay/<shortcode>`.
             * @example k7m2x9q4ta
             */
            shortcode: string;
            /**
             * @description State of the intent; an open list.
             * @example open
             */
            status: string;
            /**
             * @description `sandbox` or `production`.
             * @example sandbox
             */
            environment: string;
            /**
             * Format: uuid
             * @description Merchant that owns the intent.
             * @example 0192f3c4-7a10-7c3e-9d52-1f6b8a40e001
             */
            merchant_id: string;
            /**
             * Format: int64
             * @description Amount in whole rupiah.
             * @example 150000
             */
            amount_idr: number;
            /**
             * @description How many payments the intent takes; 0 is unlimited.
             * @example 1
             */
            max_uses: number;
            /**
             * @description How many payments have succeeded.
             * @example 0
             */
            uses: number;
            /**
             * Format: int64
             * @description Sum of the payments that count towards the intent, in whole rupiah. A payment that is taken back does not lower it.
             * @example 0
             */
            paid_idr: number;
            /**
             * Format: int64
             * @description Sum of the succeeded refunds, in whole rupiah.
             * @example 0
             */
            refunded_idr: number;
            /**
             * Format: int64
             * @description Money received beyond what the intent takes, in whole rupiah.
             * @example 0
             */
            overpaid_idr: number;
            /**
             * @description Free text shown to the payer.
             * @example Order 1042
             */
            description: string | null;
            /**
             * @description Channel codes the payer may use; empty for a point-of-sale intent.
             * @example [
             *       "qris"
             *     ]
             */
            allowed_channels: components["schemas"]["ChannelCode"][];
            /**
             * @description The channel of a point-of-sale intent, else null.
             * @example null
             */
            channel: string | null;
            metadata: components["schemas"]["Metadata"];
            /**
             * @description Your own reference.
             * @example order-1042
             */
            reference_id: string | null;
            /**
             * @description Where the hosted page sends the payer back.
             * @example https://shop.example/orders/1042
             */
            return_url: string | null;
            customer: components["schemas"]["IntentCustomer"];
            /**
             * @description The stored customer of the intent.
             * @example null
             */
            customer_id: string | null;
            /**
             * @description The hosted payment page; null for a point-of-sale intent.
             * @example https://api.sandbox.bayar.example/pay/k7m2x9q4ta
             */
            checkout_url: string | null;
            /**
             * @description True when the money arrived after the deadline or after another end.
             * @example false
             */
            late: boolean;
            /**
             * Format: date-time
             * @description When the intent was created.
             * @example 2026-11-02T03:04:05.678Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description Deadline of the intent, the longest time to live of its channels; null for cash alone.
             * @example 2026-11-02T03:34:05.678Z
             */
            intent_expires_at: string | null;
            /**
             * Format: date-time
             * @description When the payment that made the intent paid was completed, by the provider's time.
             * @example null
             */
            paid_at: string | null;
            /**
             * @description The raw QRIS payload to render as a QR code. Only for `qris`.
             * @example 00020101021226670017ID.CO.EXAMPLE.WWW011993600999000000000100212EX00000000010303UMI51440014ID.CO.QRIS.WWW0215ID12345678901230303UMI5204541153033605405250005802ID5913WARUNG CONTOH6007JAKARTA61051011062180507INV00010703A0163042CCB
             */
            qr_string?: string;
            /**
             * @description Virtual account number the payer transfers to. Only for `va_*`.
             * @example 8808123456789012
             */
            va_number?: string;
            /**
             * @description Bank of the virtual account. Only for `va_*`.
             * @example bank_a
             */
            va_bank?: string;
            /**
             * Format: date-time
             * @description Expiry of the virtual account. Only beside `va_number`.
             * @example 2026-11-03T03:04:05.678Z
             */
            expires_at?: string;
            /**
             * @description Deeplink to the e-wallet's app or its web flow. Only for `ewallet_*`.
             * @example https://wallet-a.example/pay/9f2c
             */
            redirect_url?: string;
            /**
             * @description Code the payer shows at the counter. Only for `otc_*`.
             * @example BYR204518873920
             */
            payment_code?: string;
            /**
             * @description The pay-later provider's authorisation page. Only for `paylater_*`.
             * @example https://paylater-a.example/authorise/9f2c
             */
            payment_url?: string;
            /**
             * @description The 3-D-Secure page. Only for `card_3ds`.
             * @example https://api.sandbox.bayar.example/pay/k7m2x9q4ta/3ds
             */
            challenge_url?: string;
        };
        /** @description One try to pay an intent over one channel. */
        PaymentAttempt: {
            /**
             * Format: uuid
             * @description Identifier of the attempt.
             * @example 0192f3c4-8b21-7d4f-8e63-2a7c9b51f102
             */
            id: string;
            /**
             * Format: uuid
             * @description The intent it pays.
             * @example 0192f3c4-8b21-7d4f-8e63-2a7c9b51f101
             */
            intent_id: string;
            /**
             * @description Channel code; an open list.
             * @example qris
             */
            channel: string;
            /**
             * Format: int64
             * @description Amount in whole rupiah; on a static QR what was really paid.
             * @example 150000
             */
            amount_idr: number;
            /**
             * @description `pending`, `succeeded`, `failed`, `expired` or `reversed`; an open list.
             * @example succeeded
             */
            status: string;
            /**
             * @description The provider's reference of the charge.
             * @example SIM-0192f3c48b217d4f
             */
            provider_reference: string | null;
            /**
             * @description The provider's reason when the attempt failed.
             * @example null
             */
            failure_code: string | null;
            /**
             * Format: date-time
             * @description When the attempt was made.
             * @example 2026-11-02T03:04:05.678Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When the provider took the money, by the provider's time.
             * @example 2026-11-02T03:10:44.120Z
             */
            completed_at: string | null;
        };
        /** @description What the event is about, as it was when it happened. */
        IntentEventData: {
            intent: components["schemas"]["PaymentIntent"];
        };
        /** @description A payment intent was created. */
        PaymentIntentCreatedEvent: {
            /**
             * Format: uuid
             * @description Identifier of the event, the same in every delivery and retry; deduplicate on it.
             * @example 0192f3c4-8b21-7d4f-8e63-2a7c9b51f1e1
             */
            id: string;
            /**
             * @description Event kind.
             * @example payment_intent.created
             * @enum {string}
             */
            event: "payment_intent.created";
            /**
             * Format: date-time
             * @description When it happened.
             * @example 2026-11-02T03:04:05.678Z
             */
            created_at: string;
            /**
             * @description `sandbox` or `production`.
             * @example sandbox
             */
            environment: string;
            /**
             * @description Version of this body.
             * @example v1
             */
            api_version: string;
            /**
             * Format: uuid
             * @description Merchant the event belongs to.
             * @example 0192f3c4-7a10-7c3e-9d52-1f6b8a40e001
             */
            merchant_id: string;
            data: components["schemas"]["IntentEventData"];
        };
        /** @description A payment intent expired before completion. */
        PaymentIntentExpiredEvent: {
            /**
             * Format: uuid
             * @description Identifier of the event, the same in every delivery and retry; deduplicate on it.
             * @example 0192f3c4-8b21-7d4f-8e63-2a7c9b51f1e1
             */
            id: string;
            /**
             * @description Event kind.
             * @example payment_intent.expired
             * @enum {string}
             */
            event: "payment_intent.expired";
            /**
             * Format: date-time
             * @description When it happened.
             * @example 2026-11-02T03:04:05.678Z
             */
            created_at: string;
            /**
             * @description `sandbox` or `production`.
             * @example sandbox
             */
            environment: string;
            /**
             * @description Version of this body.
             * @example v1
             */
            api_version: string;
            /**
             * Format: uuid
             * @description Merchant the event belongs to.
             * @example 0192f3c4-7a10-7c3e-9d52-1f6b8a40e001
             */
            merchant_id: string;
            data: components["schemas"]["IntentEventData"];
        };
        /** @description What the event is about, as it was when it happened. */
        AttemptEventData: {
            intent: components["schemas"]["PaymentIntent"];
            attempt: components["schemas"]["PaymentAttempt"];
        };
        /** @description A payment reached terminal success. */
        PaymentCompletedEvent: {
            /**
             * Format: uuid
             * @description Identifier of the event, the same in every delivery and retry; deduplicate on it.
             * @example 0192f3c4-8b21-7d4f-8e63-2a7c9b51f1e2
             */
            id: string;
            /**
             * @description Event kind.
             * @example payment.completed
             * @enum {string}
             */
            event: "payment.completed";
            /**
             * Format: date-time
             * @description When it happened.
             * @example 2026-11-02T03:10:44.500Z
             */
            created_at: string;
            /**
             * @description `sandbox` or `production`.
             * @example sandbox
             */
            environment: string;
            /**
             * @description Version of this body.
             * @example v1
             */
            api_version: string;
            /**
             * Format: uuid
             * @description Merchant the event belongs to.
             * @example 0192f3c4-7a10-7c3e-9d52-1f6b8a40e001
             */
            merchant_id: string;
            data: components["schemas"]["AttemptEventData"];
        };
        /** @description A payment attempt failed. */
        PaymentFailedEvent: {
            /**
             * Format: uuid
             * @description Identifier of the event, the same in every delivery and retry; deduplicate on it.
             * @example 0192f3c4-8b21-7d4f-8e63-2a7c9b51f1e4
             */
            id: string;
            /**
             * @description Event kind.
             * @example payment.failed
             * @enum {string}
             */
            event: "payment.failed";
            /**
             * Format: date-time
             * @description When it happened.
             * @example 2026-11-02T03:10:44.500Z
             */
            created_at: string;
            /**
             * @description `sandbox` or `production`.
             * @example sandbox
             */
            environment: string;
            /**
             * @description Version of this body.
             * @example v1
             */
            api_version: string;
            /**
             * Format: uuid
             * @description Merchant the event belongs to.
             * @example 0192f3c4-7a10-7c3e-9d52-1f6b8a40e001
             */
            merchant_id: string;
            data: components["schemas"]["AttemptEventData"];
        };
        /** @description A synthetic event. */
        WebhookTestEvent: {
            /**
             * Format: uuid
             * @description Identifier of the synthetic event.
             * @example 0192f3c4-9e11-7a02-b1d5-6f308e21c1b3
             */
            id: string;
            /**
             * @description Event kind.
             * @example webhook.test
             * @enum {string}
             */
            event: "webhook.test";
            /**
             * Format: date-time
             * @description When the test was asked for.
             * @example 2026-11-02T03:04:05.678Z
             */
            created_at: string;
            /**
             * @description `sandbox` or `production`.
             * @example sandbox
             */
            environment: string;
            /**
             * @description Version of this body.
             * @example v1
             */
            api_version: string;
            /**
             * Format: uuid
             * @description Merchant of the subscription.
             * @example 0192f3c4-7a10-7c3e-9d52-1f6b8a40e001
             */
            merchant_id: string;
            /** @description Which subscription is tested. */
            data: {
                /**
                 * Format: uuid
                 * @description Identifier of the subscription.
                 * @example 0192f3c4-9d02-7b11-a0c4-5e2f7d10b0a1
                 */
                webhook_id: string;
            };
        };
    };
    responses: never;
    parameters: {
        /**
         * @description `t=<unix seconds>,v1=<hex>`: when the attempt was signed, and the HMAC-SHA256 of `<t>.<raw body>` under the current secret, 64 digits in lower case.
         *     There is exactly one `v1`; names that you do not know may join.
         */
        SignatureHeader: string;
        /** @description For 24 hours after a rotation, the same `t` and body signed by the secret before, in the same form. */
        PreviousSignatureHeader: string;
        /** @description Identifier of this attempt; a retry has another one. Deduplicate on the `id` of the body instead. */
        DeliveryIdHeader: string;
        /** @description The `event` of the body. It is not signed; go by the body. */
        EventKindHeader: string;
    };
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    onPaymentIntentCreated: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description `t=<unix seconds>,v1=<hex>`: when the attempt was signed, and the HMAC-SHA256 of `<t>.<raw body>` under the current secret, 64 digits in lower case.
                 *     There is exactly one `v1`; names that you do not know may join.
                 */
                "X-Service-Signature": components["parameters"]["SignatureHeader"];
                /** @description For 24 hours after a rotation, the same `t` and body signed by the secret before, in the same form. */
                "X-Service-Signature-Previous"?: components["parameters"]["PreviousSignatureHeader"];
                /** @description Identifier of this attempt; a retry has another one. Deduplicate on the `id` of the body instead. */
                "X-Service-Delivery-Id": components["parameters"]["DeliveryIdHeader"];
                /** @description The `event` of the body. It is not signed; go by the body. */
                "X-Service-Event-Kind": components["parameters"]["EventKindHeader"];
            };
            path?: never;
            cookie?: never;
        };
        /** @description The event. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["PaymentIntentCreatedEvent"];
            };
        };
        responses: {
            /** @description Any 2xx within 30 seconds accepts the delivery. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onPaymentIntentExpired: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description `t=<unix seconds>,v1=<hex>`: when the attempt was signed, and the HMAC-SHA256 of `<t>.<raw body>` under the current secret, 64 digits in lower case.
                 *     There is exactly one `v1`; names that you do not know may join.
                 */
                "X-Service-Signature": components["parameters"]["SignatureHeader"];
                /** @description For 24 hours after a rotation, the same `t` and body signed by the secret before, in the same form. */
                "X-Service-Signature-Previous"?: components["parameters"]["PreviousSignatureHeader"];
                /** @description Identifier of this attempt; a retry has another one. Deduplicate on the `id` of the body instead. */
                "X-Service-Delivery-Id": components["parameters"]["DeliveryIdHeader"];
                /** @description The `event` of the body. It is not signed; go by the body. */
                "X-Service-Event-Kind": components["parameters"]["EventKindHeader"];
            };
            path?: never;
            cookie?: never;
        };
        /** @description The event. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["PaymentIntentExpiredEvent"];
            };
        };
        responses: {
            /** @description Any 2xx within 30 seconds accepts the delivery. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onPaymentCompleted: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description `t=<unix seconds>,v1=<hex>`: when the attempt was signed, and the HMAC-SHA256 of `<t>.<raw body>` under the current secret, 64 digits in lower case.
                 *     There is exactly one `v1`; names that you do not know may join.
                 */
                "X-Service-Signature": components["parameters"]["SignatureHeader"];
                /** @description For 24 hours after a rotation, the same `t` and body signed by the secret before, in the same form. */
                "X-Service-Signature-Previous"?: components["parameters"]["PreviousSignatureHeader"];
                /** @description Identifier of this attempt; a retry has another one. Deduplicate on the `id` of the body instead. */
                "X-Service-Delivery-Id": components["parameters"]["DeliveryIdHeader"];
                /** @description The `event` of the body. It is not signed; go by the body. */
                "X-Service-Event-Kind": components["parameters"]["EventKindHeader"];
            };
            path?: never;
            cookie?: never;
        };
        /** @description The event. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["PaymentCompletedEvent"];
            };
        };
        responses: {
            /** @description Any 2xx within 30 seconds accepts the delivery. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onPaymentFailed: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description `t=<unix seconds>,v1=<hex>`: when the attempt was signed, and the HMAC-SHA256 of `<t>.<raw body>` under the current secret, 64 digits in lower case.
                 *     There is exactly one `v1`; names that you do not know may join.
                 */
                "X-Service-Signature": components["parameters"]["SignatureHeader"];
                /** @description For 24 hours after a rotation, the same `t` and body signed by the secret before, in the same form. */
                "X-Service-Signature-Previous"?: components["parameters"]["PreviousSignatureHeader"];
                /** @description Identifier of this attempt; a retry has another one. Deduplicate on the `id` of the body instead. */
                "X-Service-Delivery-Id": components["parameters"]["DeliveryIdHeader"];
                /** @description The `event` of the body. It is not signed; go by the body. */
                "X-Service-Event-Kind": components["parameters"]["EventKindHeader"];
            };
            path?: never;
            cookie?: never;
        };
        /** @description The event. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["PaymentFailedEvent"];
            };
        };
        responses: {
            /** @description Any 2xx within 30 seconds accepts the delivery. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onWebhookTest: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description `t=<unix seconds>,v1=<hex>`: when the attempt was signed, and the HMAC-SHA256 of `<t>.<raw body>` under the current secret, 64 digits in lower case.
                 *     There is exactly one `v1`; names that you do not know may join.
                 */
                "X-Service-Signature": components["parameters"]["SignatureHeader"];
                /** @description For 24 hours after a rotation, the same `t` and body signed by the secret before, in the same form. */
                "X-Service-Signature-Previous"?: components["parameters"]["PreviousSignatureHeader"];
                /** @description Identifier of this attempt; a retry has another one. Deduplicate on the `id` of the body instead. */
                "X-Service-Delivery-Id": components["parameters"]["DeliveryIdHeader"];
                /** @description The `event` of the body. It is not signed; go by the body. */
                "X-Service-Event-Kind": components["parameters"]["EventKindHeader"];
            };
            path?: never;
            cookie?: never;
        };
        /** @description The synthetic event. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["WebhookTestEvent"];
            };
        };
        responses: {
            /** @description Any 2xx within 30 seconds accepts the delivery. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
}

import java.io.IOException;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.opensearch.Version;
import org.opensearch.analysis.common.CommonAnalysisPlugin;
import org.opensearch.client.node.NodeClient;
import org.opensearch.common.network.NetworkService;
import org.opensearch.common.settings.Settings;
import org.opensearch.common.util.PageCacheRecycler;
import org.opensearch.common.util.concurrent.ThreadContext;
import org.opensearch.core.common.io.stream.NamedWriteableRegistry;
import org.opensearch.core.common.transport.BoundTransportAddress;
import org.opensearch.core.common.transport.TransportAddress;
import org.opensearch.core.indices.breaker.CircuitBreakerService;
import org.opensearch.core.rest.RestStatus;
import org.opensearch.node.InternalSettingsPreparer;
import org.opensearch.node.Node;
import org.opensearch.plugins.ActionPlugin;
import org.opensearch.plugins.NetworkPlugin;
import org.opensearch.plugins.Plugin;
import org.opensearch.rest.BytesRestResponse;
import org.opensearch.rest.RestChannel;
import org.opensearch.rest.RestHandler;
import org.opensearch.rest.RestRequest;
import org.opensearch.telemetry.tracing.Tracer;
import org.opensearch.threadpool.ThreadPool;
import org.opensearch.transport.Netty4Plugin;
import org.opensearch.transport.SharedGroupFactory;
import org.opensearch.transport.Transport;
import org.opensearch.transport.netty4.Netty4Transport;

/**
 * One OpenSearch node for its owner: LocalNode FOLDER HTTP_PORT, the password in the environment.
 *
 * <p>It listens on one port of 127.0.0.1, where every request needs the password. Other nodes would
 * speak to it on a second one, without any: it does not open that.
 */
final class LocalNode extends Node {
    private static final String PASSWORD = "CAIRN_OPENSEARCH_PASSWORD";

    private LocalNode(Settings settings) {
        super(InternalSettingsPreparer.prepareEnvironment(settings, Map.of(), null, () -> "cairn"),
            List.of(CommonAnalysisPlugin.class, Netty4Plugin.class, Guard.class), false);
    }

    /** Asks who comes by HTTP for user and password, and lets no other node in. */
    public static final class Guard extends Plugin implements ActionPlugin, NetworkPlugin {
        private final byte[] expected = ("Basic " + Base64.getEncoder().encodeToString(
            ("cairn:" + System.getenv(PASSWORD)).getBytes(StandardCharsets.UTF_8))).getBytes(StandardCharsets.UTF_8);

        @Override
        public UnaryOperator<RestHandler> getRestHandlerWrapper(ThreadContext context) {
            return handler -> new RestHandler.Wrapper(handler) {
                @Override
                public void handleRequest(RestRequest request, RestChannel channel, NodeClient client) throws Exception {
                    String given = request.header("Authorization");
                    byte[] told = (given == null ? "" : given).getBytes(StandardCharsets.UTF_8);
                    if (MessageDigest.isEqual(told, expected)) {
                        super.handleRequest(request, channel, client);
                    } else {
                        channel.sendResponse(new BytesRestResponse(RestStatus.UNAUTHORIZED, "{\"error\":\"unauthorized\"}"));
                    }
                }
            };
        }

        @Override
        public Map<String, Supplier<Transport>> getTransports(Settings settings, ThreadPool threads,
            PageCacheRecycler pages, CircuitBreakerService breakers, NamedWriteableRegistry names,
            NetworkService network, Tracer tracer) {
            return Map.of("closed", () -> new Netty4Transport(settings, Version.CURRENT, threads, network, pages,
                names, breakers, new SharedGroupFactory(settings), tracer) {
                private final TransportAddress nowhere = new TransportAddress(InetAddress.getLoopbackAddress(), 0);

                @Override
                protected void bindServer(ProfileSettings profile) {
                    // a cluster of one has nobody to listen to
                }

                @Override
                public BoundTransportAddress boundAddress() {
                    return new BoundTransportAddress(new TransportAddress[] {nowhere}, nowhere);
                }
            });
        }
    }

    public static void main(String[] arguments) throws Exception {
        if (System.getenv(PASSWORD) == null) {
            throw new IllegalStateException(PASSWORD + " is missing");
        }
        Settings settings = Settings.builder()
            .put("path.home", arguments[0])
            .put("cluster.name", "cairn-local")
            .put("discovery.type", "single-node")
            .put("network.host", "127.0.0.1")
            .put("http.port", arguments[1])
            .put("transport.type", "closed")
            .put("action.auto_create_index", false)
            .put("cluster.routing.allocation.disk.threshold_enabled", false)
            .build();
        LocalNode node = new LocalNode(settings);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            try {
                node.close();
            } catch (IOException error) {
                System.err.println(error);
            }
        }));
        node.start();
        Thread.currentThread().join();
    }
}

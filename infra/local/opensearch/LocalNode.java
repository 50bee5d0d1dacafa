import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.opensearch.analysis.common.CommonAnalysisPlugin;
import org.opensearch.common.settings.Settings;
import org.opensearch.node.InternalSettingsPreparer;
import org.opensearch.node.Node;
import org.opensearch.transport.Netty4Plugin;

/** One OpenSearch node on 127.0.0.1, for this machine only: LocalNode FOLDER HTTP_PORT TRANSPORT_PORT. */
final class LocalNode extends Node {
    private LocalNode(Settings settings) {
        super(InternalSettingsPreparer.prepareEnvironment(settings, Map.of(), null, () -> "cairn"),
            List.of(CommonAnalysisPlugin.class, Netty4Plugin.class), false);
    }

    public static void main(String[] arguments) throws Exception {
        Settings settings = Settings.builder()
            .put("path.home", arguments[0])
            .put("cluster.name", "cairn-local")
            .put("discovery.type", "single-node")
            .put("network.host", "127.0.0.1")
            .put("http.port", arguments[1])
            .put("transport.port", arguments[2])
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
